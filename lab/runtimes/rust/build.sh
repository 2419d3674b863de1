#!/usr/bin/env bash
# build.sh OUT FEATURE: builds lab-FEATURE below OUT/rust and prints `ok PROGRAM` or `no REASON` as its last line.
set -u
out=$1 feature=$2
command -v cargo >/dev/null || { echo "no cargo is not installed"; exit 0; }
cd "$(dirname "$0")" || exit 1
mkdir -p "$out/rust-src"
cp -r Cargo.toml src "$out/rust-src/" # cargo writes its lock file beside the manifest
cd "$out/rust-src" || exit 1
if CARGO_TARGET_DIR="$out/rust" RUSTFLAGS="-C target-cpu=native" cargo build --release --features "$feature" --bin "lab-$feature" 2>&1; then
    echo "ok $out/rust/release/lab-$feature"
else
    echo "no cargo cannot build it: $(rustc --version), see the log"
fi
