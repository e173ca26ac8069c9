#!/usr/bin/env bash
# Packs the SDKs in the form in which authors get them, into target/sdks: crates, an npm package, a wheel, and archives of what
# plugins in Go and C are built with. Unpacks each to target/sdks/unpacked/LANGUAGE, which the examples are built with.
#
#   plugin-sdk/tools/pack-sdks.sh [rust] [typescript] [python] [go] [c]
#
# Publishes nothing. What is newer than its sources is not packed again.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
SDK=$ROOT/plugin-sdk
OUT=$ROOT/target/sdks
VERSION=$(sed -nE '/^\[workspace\.package\]/,/^\[/ s/^version *= *"(.*)"/\1/p' "$ROOT/Cargo.toml")
mkdir -p "$OUT/unpacked"

# The folders and files that the SDK of a language is made of.
sources() {
    case $1 in
        rust) echo "$SDK/rust" "$SDK/params" "$SDK/wit" "$ROOT/Cargo.toml" ;;
        typescript) echo "$SDK/typescript" ;;
        python) echo "$SDK/python" ;;
        go) echo "$SDK/go" ;;
        c) echo "$SDK/c" "$SDK/wit" ;;
    esac
}

# An archive of a folder that does not depend on when it was made.
archive() { tar -C "$1" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -czf "$2" .; }

pack() {
    case $1 in
        rust)
            (cd "$ROOT" && cargo package --no-verify --allow-dirty --quiet --target-dir "$OUT/cargo" \
                -p rookery-params -p rookery-plugin-macros -p rookery-plugin)
            cp "$OUT"/cargo/package/*.crate "$OUT/"
            ;;
        typescript) (cd "$SDK/typescript" && npm pack --silent --pack-destination "$OUT" > /dev/null) ;;
        python)
            # Of a copy: setuptools leaves folders behind.
            cp "$SDK"/python/{pyproject.toml,rookery.py} "$copy"
            python3 -m pip wheel --quiet --no-deps --wheel-dir "$OUT" "$copy"
            ;;
        # The module that generated bindings are compiled with, and the package that has panics logged.
        go)
            mkdir "$copy/rookery"
            cp -R "$SDK"/go/{go.mod,wit} "$copy/rookery/"
            cp -R "$SDK/go/reporting" "$copy/"
            archive "$copy" "$OUT/rookery-plugin-go-$VERSION.tar.gz"
            ;;
        c)
            cp "$SDK/c/rookery.h" "$SDK"/wit/0.1/plugin.wit "$copy/"
            archive "$copy" "$OUT/rookery-plugin-c-$VERSION.tar.gz"
            ;;
    esac
}

# Files get the time of now, by which compilers see that they changed.
unpack() {
    local folder=$1 crate
    case $2 in
        rust)
            for crate in "$OUT"/rookery-{params,plugin-macros,plugin}-"$VERSION".crate; do
                mkdir -p "$folder/$(basename "$crate" "-$VERSION.crate")"
                tar -C "$folder/$(basename "$crate" "-$VERSION.crate")" --strip-components=1 -mxzf "$crate"
            done
            ;;
        typescript) tar -C "$folder" --strip-components=1 -mxzf "$OUT/rookery-plugin-$VERSION.tgz" ;;
        python) python3 -m zipfile -e "$OUT/rookery_plugin-$VERSION-py3-none-any.whl" "$folder" ;;
        go | c) tar -C "$folder" -mxzf "$OUT/rookery-plugin-$2-$VERSION.tar.gz" ;;
    esac
}

[ $# -gt 0 ] || set -- rust typescript python go c
exec 9> "$OUT/.lock"
if command -v flock >/dev/null; then flock 9; fi
for language in "$@"; do
    [ -n "$(sources "$language")" ] ||
        { echo "There is no SDK to pack for $language: rust, typescript, python, go, c." >&2; exit 1; }
    unpacked=$OUT/unpacked/$language
    # shellcheck disable=SC2046
    if [ -e "$unpacked/.packed" ] && [ -z "$(find $(sources "$language") "${BASH_SOURCE[0]}" -newer "$unpacked/.packed" -print -quit)" ]; then
        continue
    fi
    copy=$(mktemp -d)
    pack "$language"
    rm -rf "$copy" "$unpacked"
    mkdir -p "$unpacked"
    unpack "$unpacked" "$language"
    touch "$unpacked/.packed"
    echo "packed and unpacked: target/sdks/unpacked/$language" >&2
done
