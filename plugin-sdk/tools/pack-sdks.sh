#!/usr/bin/env bash
# Packs the SDKs in the form in which registries take them, into target/sdks: crates, an npm package and a wheel.
#
#   plugin-sdk/tools/pack-sdks.sh [rust] [typescript] [python]
#
# Publishes nothing. Of Go there is nothing to pack: `rookery plugin build` generates the module that a plugin needs.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
OUT=$ROOT/target/sdks
mkdir -p "$OUT"
[ $# -gt 0 ] || set -- rust typescript python
for language in "$@"; do
    case $language in
        rust)
            (cd "$ROOT" && cargo package --no-verify --allow-dirty --quiet --target-dir "$OUT/cargo" \
                -p rookery-params -p rookery-plugin-macros -p rookery-plugin)
            cp "$OUT"/cargo/package/*.crate "$OUT/"
            ;;
        typescript) (cd "$ROOT/plugin-sdk/typescript" && npm pack --silent --pack-destination "$OUT") ;;
        python)
            # Of a copy: setuptools leaves folders behind.
            copy=$(mktemp -d)
            cp "$ROOT"/plugin-sdk/python/{pyproject.toml,rookery.py} "$copy"
            python3 -m pip wheel --quiet --no-deps --wheel-dir "$OUT" "$copy"
            rm -rf "$copy"
            ;;
        *) echo "There is no SDK to pack for $language: rust, typescript, python." >&2; exit 1 ;;
    esac
done
ls "$OUT" | grep -v '^cargo$' >&2
