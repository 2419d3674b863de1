#!/usr/bin/env bash
set -u
out=$1
command -v go >/dev/null || { echo "no go is not installed"; exit 0; }
cd "$(dirname "$0")" || exit 1
echo "version $(go env GOVERSION)"
# A program for another machine is linked statically, for the level of x86-64 that is asked for.
case ${SENNIT_LAB_PROCESSOR:-native} in
x86-64-v*) export CGO_ENABLED=0 GOAMD64=${SENNIT_LAB_PROCESSOR#x86-64-} ;;
esac
if go build -o "$out/go/lab-go" . 2>&1; then
    echo "ok $out/go/lab-go"
else
    echo "no go cannot build it, see the log"
fi
