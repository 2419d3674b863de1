#!/usr/bin/env bash
# build.sh OUT [NAME]: compiles the port NAME (default: cforall) below OUT/NAME. The port consists
# of the program around it and of all files of its folder. Only changed files are compiled. Prints
# `ok PROGRAM` or `no REASON` as its last line.
set -u
name=${2:-cforall}
out=$1/$name
cfa=$(command -v cfa) || {
    echo "no cfa, the compiler of C∀, is not on PATH; no package has it: see cforall.uwaterloo.ca"
    exit 0
}
cd "$(dirname "$0")" || exit 1
mkdir -p "$out" || exit 1
# No -march=native: cfa rejects the parameters that gcc makes of it.
flags=(-quiet -nodebug -O3)
failed() { echo "no cfa cannot build it, see the log"; exit 0; }
echo "__CFA_MAJOR__ . __CFA_MINOR__ . __CFA_PATCH__" > "$out/version.cfa"
version=$(cfa -quiet -nodebug -E -P "$out/version.cfa" | tail -1) &&
    echo "version CFA ${version// /}"
sources=(main.cfa)
[[ $name == cforall ]] && sources=(./*.cfa) || sources+=(../"$name"/*.cfa)
objects=()
for source in "${sources[@]}"; do
    object=$out/$(basename "$source" .cfa).o
    objects+=("$object")
    [[ $object -nt $source && $object -nt lab.hfa && $object -nt build.sh && $object -nt $cfa ]] &&
        continue
    cfa "${flags[@]}" -I. -c -o "$object.new" "$source" 2>&1 && mv "$object.new" "$object" || failed
done
cfa "${flags[@]}" -o "$out/lab-$name" "${objects[@]}" 2>&1 || failed
echo "ok $out/lab-$name"
