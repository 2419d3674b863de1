#!/usr/bin/env bash
# build.sh OUT: checks the port, writes its launcher below OUT/node and prints `ok PROGRAM` or
# `no REASON` as its last line.
set -u
out=$1/node
command -v node >/dev/null || { echo "no node is not installed (package nodejs)"; exit 0; }
cd "$(dirname "$0")" || exit 1
mkdir -p "$out" || exit 1
node --check lab.mjs 2>&1 ||
    { echo "no node $(node --version) cannot run it, see the log"; exit 0; }
echo "version Node $(node --version)"
printf '#!/bin/sh\nexec node "%s/lab.mjs" "$@"\n' "$PWD" >"$out/lab-node"
chmod +x "$out/lab-node"
echo "ok $out/lab-node"
