#!/usr/bin/env bash
# Finds or sets up a Rust compiler that can build guests (wasm32-unknown-unknown) and prints the path of its rustc.
#
# In this order: the compiler in use, if it has the target; `rustup target add`; on Debian and its derivatives, a
# compiler assembled in a cache folder from the distribution's packages, which are unpacked and not installed.
# GUEST_TOOLCHAIN=packages skips to the last. Idempotent, and safe to run concurrently.
set -euo pipefail

TARGET=wasm32-unknown-unknown
CACHE=${ROOKERY_WASM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rookery-wasm}
# Version of this recipe: increase it when older cache folders must not be used any more.
RECIPE=1

step="Looking for Rust"
say() { printf '%s\n' "$*" >&2; }
die() { say "The guests' compiler could not be set up. Step that failed: $step."; say "$*"; exit 1; }
need() { command -v "$1" >/dev/null || die "There is no $1. Install it: $2"; }

# Whether this rustc has the target's standard library.
can() { [ -n "$(compgen -G "$("$1" --print target-libdir --target $TARGET 2>/dev/null)/libcore-*.rlib")" ]; }

by_rustup() {
    step="rustup target add $TARGET"
    command -v rustup >/dev/null || return 1
    say "Adding the target $TARGET to the Rust toolchain in use."
    timeout 180 rustup target add $TARGET >&2 || { say "rustup could not; trying packages of the distribution."; return 1; }
    can rustc
}

# Options of apt: the system's package lists, or lists of our own where it has none.
apt_state=()
candidate() { apt-cache "${apt_state[@]}" policy rustc-web 2>/dev/null | awk '/Candidate:/ && $2 != "(none)" {print $2}'; }
own_lists() {
    local dir="$CACHE.apt"
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
    apt_state=(-o "Dir::State::Lists=$dir/lists" -o "Dir::Cache=$dir/cache" -o "Debug::NoLocking=1" -o "APT::Sandbox::User=")
    apt-get "${apt_state[@]}" -qq update >&2 || die "The lists of packages could not be fetched."
}

fetch_packages() {
    step="downloading the packages rustc-web and rust-web-src"
    local version std llvm
    version=$(candidate)
    [ -n "$version" ] || { own_lists; version=$(candidate); }
    [ -n "$version" ] || die "This distribution has no package rustc-web. Run: rustup target add $TARGET"
    std=$(apt-cache "${apt_state[@]}" depends "libstd-rust-web-dev=$version" | awk '/Depends: libstd-rust-web-/{print $2; exit}')
    llvm=$(apt-cache "${apt_state[@]}" depends "$std" | awk '/Depends: libllvm/{print $2; exit}')
    say "Downloading $version of the distribution's Rust compiler (140 MB)."
    apt-get "${apt_state[@]}" -qq -o APT::Sandbox::User= download \
        "rustc-web=$version" "rust-web-src=$version" "libstd-rust-web-dev=$version" "$std=$version" "$llvm" >&2 \
        || die "The packages could not be downloaded."
}

unpack() {
    step="unpacking the packages"
    local out=$1 package
    for package in rustc-web_*.deb libstd-rust-web*.deb libllvm*.deb; do
        # No package has all of these folders, for which tar reports an error.
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$out" --wildcards './usr/bin/rustc' './usr/lib/*' 2>/dev/null || true
    done
    dpkg-deb --fsys-tarfile rust-web-src_*.deb | tar -x -C "$out" --wildcards './usr/lib/rustlib/*' './usr/src/rustc-*/library/*' \
        || die "The sources of the standard library could not be unpacked."
    cat > "$out/bin/rustc" <<'WRAPPER'
#!/bin/sh
root=$(cd "$(dirname "$0")/.." && pwd)
LD_LIBRARY_PATH=$(echo "$root"/usr/lib/*-linux-gnu)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$root/usr/bin/rustc" "$@"
WRAPPER
    chmod +x "$out/bin/rustc"
    "$out/bin/rustc" --version >&2 || die "The compiler of the packages does not start."
}

# The packages have the standard library only for the native target. Built with bitcode, so that guests may use LTO.
build_library() {
    step="building the standard library for $TARGET"
    local out=$1 build=$1/build lib=$1/usr/lib/rustlib/$TARGET/lib
    mkdir -p "$build/src" "$lib"
    echo '#![no_std]' > "$build/src/lib.rs"
    printf '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[profile.release]\ncodegen-units = 1\n' > "$build/Cargo.toml"
    (cd "$build" && env -u CARGO_TARGET_DIR -u CARGO_ENCODED_RUSTFLAGS RUSTFLAGS=-Cembed-bitcode=yes RUSTC="$out/bin/rustc" \
        RUSTC_BOOTSTRAP=1 cargo build -q --release -Zbuild-std=std,panic_abort --target $TARGET --target-dir target >&2) \
        || die "cargo could not build it; the lines above say why."
    find "$build/target/$TARGET/release/deps" -name '*.rlib' ! -name 'libempty-*' -exec cp {} "$lib/" \;
    can "$out/bin/rustc" || die "The compiler does not find the library that was built."
}

by_packages() {
    step="looking for the packages' tools"
    if [ "$(cat "$CACHE/.ok" 2>/dev/null)" = "$RECIPE" ] && can "$CACHE/bin/rustc"; then return; fi
    for tool in apt-get apt-cache dpkg-deb; do
        need "$tool" "it is part of Debian and Ubuntu. Elsewhere run: rustup target add $TARGET"
    done
    local new="$CACHE.new"
    rm -rf "$new"
    mkdir -p "$new/bin" "$new/packages"
    (cd "$new/packages" && fetch_packages && unpack "$new" && build_library "$new") || exit 1
    rm -rf "$new/packages" "$new/build" "$new/usr/src"
    echo "$RECIPE" > "$new/.ok"
    rm -rf "$CACHE" "$CACHE.apt"
    mv "$new" "$CACHE"
}

need cargo "https://rustup.rs"
need rustc "https://rustup.rs"
case ${GUEST_TOOLCHAIN:-auto} in auto | packages) ;; *) die "GUEST_TOOLCHAIN is '$GUEST_TOOLCHAIN'; it may be auto or packages." ;; esac

if [ "${GUEST_TOOLCHAIN:-auto}" = auto ] && can rustc; then command -v rustc; exit; fi

mkdir -p "$(dirname "$CACHE")"
if command -v flock >/dev/null; then
    exec 9> "$CACHE.lock"
    flock 9
fi
if [ "${GUEST_TOOLCHAIN:-auto}" = auto ]; then
    # Another process may have added the target while this one waited. A finished cache folder needs no network.
    if can rustc; then command -v rustc; exit; fi
    if [ "$(cat "$CACHE/.ok" 2>/dev/null)" != "$RECIPE" ] && by_rustup; then command -v rustc; exit; fi
fi
by_packages
echo "$CACHE/bin/rustc"
