#!/usr/bin/env bash
# Builds the repository's guests (plugins/*, the Rust ones of examples/*, tests/guests/*) and writes each as a package
# folder to target/guests/NAME. The examples are built as an author's plugins are: with the SDK as it is packed.
#
#   plugin-sdk/tools/build-guests.sh [NAME…]
#
# GUEST_PROFILE says how: `guest` (the default) optimises as plugins are shipped, `guest-quick` compiles in a third of the
# time, for development and tests. A component is kept in a cache folder of the machine under a hash of everything that it is
# made of (its folder, the SDK, the versions of crates, the compiler, the profile), and is not built again while it is there.
# A folder whose content did not change is not touched, so that nothing that depends on it is rebuilt.
set -euo pipefail

TARGET=wasm32-unknown-unknown
TOOLS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$TOOLS/../.." && pwd)
OUT=$ROOT/target/guests
PROFILE=${GUEST_PROFILE:-guest}
KEPT=${XDG_CACHE_HOME:-$HOME/.cache}/rookery-guests

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# The plugin's name, from its manifest.
name_of() { sed -nE '/^\[plugin\]/,/^\[[^p]/ s/^name *= *"([a-z0-9_]+)".*/\1/p' "$1/plugin.toml" | head -1; }

# Selects the named guests, or all.
select_guests() {
    local folder name
    for folder in "$ROOT"/plugins/*/ "$ROOT"/examples/{cookbook,rust}/ "$ROOT"/tests/guests/*/; do
        [ -f "$folder/plugin.toml" ] || continue
        name=$(name_of "$folder")
        [ -n "$name" ] || die "$folder/plugin.toml gives no name."
        if [ $# = 0 ] || [[ " $* " == *" $name "* ]]; then names+=("$name"); folders+=("${folder%/}"); fi
    done
    [ $# = 0 ] || [ ${#names[@]} = $# ] || die "Not all of these are plugins of this repository: $*"
}

# wasm-component-ld, which links components, comes with every toolchain of rustup; it calls wasm-ld for core modules.
find_linker() {
    local bin
    bin=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin
    linker=$bin/wasm-component-ld
    wasm_ld=$bin/gcc-ld/wasm-ld
    [ -x "$linker" ] && [ -x "$wasm_ld" ] || die "The linker for components is not at $linker. Install Rust from https://rustup.rs"
}

# Makes $workspace, a workspace of the examples whose SDK is that of target/sdks/unpacked: their manifests say which version they
# need, and where it is in this repository is taken out of them.
example_workspace() {
    local sdk=$ROOT/target/sdks/unpacked/rust folder crate
    workspace=$ROOT/target/guests-build/examples
    "$TOOLS/pack-sdks.sh" rust
    rm -rf "$workspace"
    mkdir -p "$workspace"
    for folder in cookbook rust; do
        cp -a "$ROOT/examples/$folder" "$workspace/"
        sed -i.bak -E '/^rookery-plugin /s/, *path *= *"[^"]*"//' "$workspace/$folder/Cargo.toml"
        rm "$workspace/$folder/Cargo.toml.bak"
    done
    {
        echo '[workspace]'
        echo 'members = ["cookbook", "rust"]'
        echo 'resolver = "3"'
        # The repository's sections that members inherit from, and its profile of guests.
        awk '/^\[/ { keep = /^\[(workspace\.package|workspace\.lints[a-z.]*|profile\.(release|dev|guest[a-z-]*))\]/ } keep' "$ROOT/Cargo.toml"
        echo '[patch.crates-io]'
        for crate in rookery-params rookery-plugin-macros rookery-plugin; do echo "$crate = { path = \"$sdk/$crate\" }"; done
    } > "$workspace/Cargo.toml"
    cp "$ROOT/Cargo.lock" "$workspace/"
}

# Prints one hash of the files in these folders, by their content and their path from the repository.
hash_of() {
    (cd "$ROOT" && find "${@#"$ROOT"/}" -type f -not -path '*/target/*' -not -path '*/node_modules/*' -print0 | LC_ALL=C sort -z \
        | xargs -0 sha256sum | sha256sum | cut -c1-32)
}

# Prints a hash of everything that all guests are made of: compiler, recipe, SDK, versions and features of crates, profiles.
common_key() {
    {
        "$compiler" -vV
        # Whose linker it is.
        rustc -vV
        hash_of "$TOOLS/build-guests.sh" "$TOOLS/pack-sdks.sh" "$ROOT"/plugin-sdk/{rust,params,wit}
        awk '/^\[/ { keep = /^\[(workspace\.package|workspace\.lints[a-z.]*|profile\.(release|dev|guest[a-z-]*))\]/ } keep' "$ROOT/Cargo.toml"
        cargo tree --manifest-path "$ROOT/Cargo.toml" --target $TARGET --edges normal,build --prefix none --format '{p} {f}' \
            "${names[@]/#/--package=}" | sed "s|(/[^)]*)||; s| (\*)$||" | LC_ALL=C sort -u
        echo "$PROFILE"
    } | sha256sum | cut -c1-32
}

# Compiles packages of the workspace in a folder.
build() {
    local root=$1; shift
    local flags=(-Clink-arg=--wasm-ld-path "-Clink-arg=$wasm_ld" -Clink-arg=--initial-heap=262144 -Ctarget-feature=+simd128
        "--remap-path-prefix=$ROOT=." "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo")
    env -u RUSTFLAGS RUSTC="$compiler" CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker" \
        CARGO_ENCODED_RUSTFLAGS="$(IFS=$'\x1f'; echo "${flags[*]}")" \
        cargo build --manifest-path "$root/Cargo.toml" --profile "$PROFILE" --target $TARGET --target-dir "$build" "${@/#/--package=}"
}

# The package: the plugin's folder without its sources, plus the component. Written aside, then renamed into place.
package() {
    local name=$1 folder=$2 new=$OUT/.$1.$$
    touch "$3"
    rm -rf "$new"
    mkdir -p "$new"
    (cd "$folder" && tar -ch --exclude='./.*' --exclude=./src --exclude=./target --exclude=./Cargo.toml --exclude=./Cargo.lock .) | tar -x -C "$new"
    cp "$3" "$new/$name.wasm"
    if diff -rq "$new" "$OUT/$name" >/dev/null 2>&1; then
        rm -rf "$new"
    else
        rm -rf "$OUT/.$name.old"
        [ ! -e "$OUT/$name" ] || mv "$OUT/$name" "$OUT/.$name.old"
        mv "$new" "$OUT/$name"
        rm -rf "$OUT/.$name.old"
    fi
    printf '%8d KiB  target/guests/%s\n' "$(($(wc -c < "$OUT/$name/$name.wasm") / 1024))" "$name" >&2
}

names=() folders=()
select_guests "$@"
if [ ${#names[@]} = 0 ]; then say "There are no guests."; exit; fi
compiler=$("$TOOLS/setup-wasm.sh")
find_linker
# One build folder for each compiler version, so that their output is never mixed.
build=$ROOT/target/guests-build/$("$compiler" --version | cut -d' ' -f2)
mkdir -p "$OUT" "$build" "$KEPT"
exec 8> "$build/.lock"
if command -v flock >/dev/null; then flock 8; fi
common=$(common_key)
own=() examples=() kept=()
for i in "${!names[@]}"; do
    kept[i]=$KEPT/$common-$(hash_of "${folders[$i]}").wasm
    if [ -e "${kept[$i]}" ]; then continue; fi
    case ${folders[$i]} in "$ROOT"/examples/*) examples+=("${names[$i]}") ;; *) own+=("${names[$i]}") ;; esac
done
[ ${#own[@]} = 0 ] || build "$ROOT" "${own[@]}"
if [ ${#examples[@]} != 0 ]; then
    example_workspace
    build "$workspace" "${examples[@]}"
fi
for i in "${!names[@]}"; do
    if [ ! -e "${kept[$i]}" ]; then
        cp "$build/$TARGET/$PROFILE/${names[$i]}.wasm" "${kept[$i]}.$$"
        mv "${kept[$i]}.$$" "${kept[$i]}"
    fi
    package "${names[$i]}" "${folders[$i]}" "${kept[$i]}"
done
[ "$(cat "$OUT/.profile" 2>/dev/null)" = "$PROFILE" ] || echo "$PROFILE" > "$OUT/.profile"
# Of earlier sources: what nothing used for a month.
find "$KEPT" -name '*.wasm*' -mtime +30 -delete
