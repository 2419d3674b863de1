#!/usr/bin/env bash
# build.sh OUT NAME FORKS: compiles into OUT/NAME and prints `ok LAUNCHER` or `no REASON` as its
# last line.
set -u
out=$1 name=$2 forks=$3
best= version=0
for javac in ${JAVA_HOME:+"$JAVA_HOME/bin/javac"} "$(command -v javac)" /usr/lib/jvm/*/bin/javac; do
    [[ -x $javac ]] || continue
    number=$("$javac" -version 2>&1 | sed -E 's/^javac ([0-9]+).*/\1/')
    ((number > version)) && version=$number best=$javac
done
[[ -n $best ]] || { echo "no no JDK is installed"; exit 0; }
((version >= 21)) || { echo "no needs JDK 21 or newer, found $version"; exit 0; }
echo "version $("$best" -version 2>&1)"
cd "$(dirname "$0")" || exit 1
mkdir -p "$out/$name"
if "$best" -d "$out/$name" ./*.java 2>&1; then
    cat >"$out/$name/run" <<RUN
#!/bin/sh
exec "${best%c}" -Xss512m -XX:+UseParallelGC -Djdk.virtualThreadScheduler.parallelism="\$3" \\
    -Djdk.virtualThreadScheduler.maxPoolSize="\$3" -cp "$out/$name" Main $forks "\$@"
RUN
    chmod +x "$out/$name/run"
    echo "ok $out/$name/run"
else
    echo "no javac cannot build it, see the log"
fi
