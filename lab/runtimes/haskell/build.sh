#!/usr/bin/env bash
# build.sh OUT: compiles the port below OUT/haskell and prints `ok PROGRAM` or `no REASON` as its
# last line.
set -u
out=$1/haskell
command -v ghc >/dev/null || { echo "no ghc is not installed (package ghc)"; exit 0; }
cd "$(dirname "$0")" || exit 1
mkdir -p "$out" || exit 1
echo "version GHC $(ghc --numeric-version)"
if ghc -O2 -threaded -rtsopts -with-rtsopts=-A64m -Wall -outputdir "$out" -o "$out/lab-haskell" \
    Lab.hs 2>&1; then
    echo "ok $out/lab-haskell"
else
    echo "no ghc cannot build it, see the log"
fi
