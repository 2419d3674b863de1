#!/usr/bin/env bash
# build.sh OUT: compiles the port below OUT/dotnet and prints `ok PROGRAM` or `no REASON` as its
# last line. The script calls the compiler of the SDK directly, so that no tool asks for packages
# and no build server stays behind.
set -u
out=$1/dotnet
dotnet=$(command -v "${DOTNET_ROOT:+$DOTNET_ROOT/}dotnet" || command -v dotnet) ||
    {
        echo "no dotnet is not installed: have the .NET SDK on PATH, or its folder in DOTNET_ROOT"
        exit 0
    }
cd "$(dirname "$0")" || exit 1
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
# Prints the highest version among the lines `VERSION [FOLDER]` that match the pattern.
newest() { sed -nE "s/^$1(([0-9]+)[^ ]*) \[(.*)\]\$/\2 \1 \3/p" | sort -k 2,2V | tail -1; }
read -r _ sdk folder < <("$dotnet" --list-sdks | newest "")
[[ -n ${sdk:-} ]] || { echo "no $dotnet has no SDK, only a runtime"; exit 0; }
csc=$folder/$sdk/Roslyn/bincore/csc.dll
read -r major framework libraries < <("$dotnet" --list-runtimes | newest "Microsoft\.NETCore\.App ")
[[ -n ${framework:-} ]] || { echo "no $dotnet has no Microsoft.NETCore.App"; exit 0; }
((major >= 3)) || { echo "no needs .NET Core 3.1 or newer, found $framework"; exit 0; }
echo "version .NET $framework (SDK $sdk)"
mkdir -p "$out" || exit 1
options=()
((major >= 6)) && options+=(-define:NET6_0_OR_GREATER)
for library in "$libraries/$framework"/*.dll; do options+=("-r:$library"); done
"$dotnet" exec "$csc" -nologo -noconfig -nostdlib -target:exe -langversion:8.0 -optimize+ \
    "${options[@]}" -out:"$out/lab-dotnet.dll" ./*.cs 2>&1 ||
    { echo "no dotnet cannot build it, see the log"; exit 0; }

# The program has no concurrent collector thread and no tables of cultures.
cat >"$out/lab-dotnet.runtimeconfig.json" <<JSON
{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "$framework"},
    "configProperties": {"System.GC.Concurrent": false, "System.Globalization.Invariant": true}}}
JSON
# With several threads the program uses the server's collector, with a heap for each thread and not
# for each processor. No heap is bound to a processor. With one thread it uses the workstation's
# collector, as on a machine with one processor. Either collector runs after 64 MiB, as GHC's does
# here. Without that setting the size of a heap would depend on the processor's cache. The numbers
# are hexadecimal; COMPlus is the name of the prefix before .NET 6.
cat >"$out/lab-dotnet" <<RUN
#!/usr/bin/env bash
[[ \$# == 3 && \$3 =~ ^[0-9]{1,4}\$ ]] || { echo "usage: WORKLOAD SIZE THREADS" >&2; exit 1; }
threads=\$((10#\$3)) heaps=\$(printf '%x' "\$((10#\$3))")
for name in DOTNET COMPlus; do
    export "\${name}_gcServer=\$((threads > 1))" "\${name}_GCHeapCount=\$heaps"
    export "\${name}_GCNoAffinitize=1"
    export "\${name}_GCgen0size=4000000" "\${name}_GCgen0MaxBudget=4000000"
done
exec "$dotnet" exec "$out/lab-dotnet.dll" "\$@"
RUN
chmod +x "$out/lab-dotnet"
echo "ok $out/lab-dotnet"
