#!/usr/bin/env bash
# build.sh OUT FEATURE: builds lab-FEATURE below OUT/rust and prints `version TEXT`, then
# `ok PROGRAM` or `no REASON` as its last line. SENNIT_LAB_PROCESSOR is the program's processor.
set -u
out=$1 feature=$2 processor=${SENNIT_LAB_PROCESSOR:-native}
command -v cargo >/dev/null || { echo "no cargo is not installed"; exit 0; }
cd "$(dirname "$0")" || exit 1
# cargo writes its lock file beside the manifest. With the lock file of an earlier build, the next
# build does without the registry.
mkdir -p "$out/rust-src" && rm -rf "$out/rust-src/src" &&
    cp -rp Cargo.toml src "$out/rust-src/" || exit 1
cd "$out/rust-src" || exit 1
# Some of these libraries demand a newer compiler than they need. The script reports a library only
# if it does not build.
if CARGO_TARGET_DIR="$out/rust" RUSTFLAGS="-C target-cpu=$processor -C llvm-args=-align-loops=64" \
    cargo build --release --ignore-rust-version --features "$feature" --bin "lab-$feature" 2>&1
then
    number=$(grep -A1 "^name = \"$feature\"$" Cargo.lock |
        sed -n 's/^version = "\(.*\)"$/\1/p' | head -1)
    echo "version $number, $(rustc --version)"
    echo "ok $out/rust/release/lab-$feature"
else
    echo "no cargo cannot build it with $(rustc --version), see the log"
fi
