#!/usr/bin/env bash
# build.sh OUT: compiles the port below OUT/dotnet and prints `ok PROGRAM` or `no REASON` as its last line. It calls the compiler of
# the SDK itself, so that nothing asks for packages and no build server stays behind.
set -u
out=$1/dotnet
dotnet=$(command -v "${DOTNET_ROOT:+$DOTNET_ROOT/}dotnet" || command -v dotnet) ||
    { echo "no dotnet is not installed: have the .NET SDK on PATH, or its folder in DOTNET_ROOT"; exit 0; }
cd "$(dirname "$0")" || exit 1
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
# Of the lines `VERSION [FOLDER]` that the pattern leaves, the one of the highest version.
newest() { sed -nE "s/^$1(([0-9]+)[^ ]*) \[(.*)\]\$/\2 \1 \3/p" | sort -k 2,2V | tail -1; }
read -r _ sdk folder < <("$dotnet" --list-sdks | newest "")
[[ -n ${sdk:-} ]] || { echo "no $dotnet has no SDK, only what runs programs"; exit 0; }
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
    "${options[@]}" -out:"$out/lab-dotnet.dll" ./*.cs 2>&1 || { echo "no dotnet cannot build it, see the log"; exit 0; }

# No collector thread beside the program's, and no tables of cultures.
cat >"$out/lab-dotnet.runtimeconfig.json" <<JSON
{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "$framework"},
    "configProperties": {"System.GC.Concurrent": false, "System.Globalization.Invariant": true}}}
JSON
# With several threads the server's collector, a heap for each of them and not for each processor, none bound to one; with one
# thread the workstation's, as on a machine with one processor. Either collects after 64 MiB, as GHC does here, or else a heap
# would grow with the processor's cache. The numbers are hexadecimal; COMPlus is the name before .NET 6.
cat >"$out/lab-dotnet" <<RUN
#!/usr/bin/env bash
[[ \$# == 3 && \$3 =~ ^[0-9]{1,4}\$ ]] || { echo "usage: WORKLOAD SIZE THREADS" >&2; exit 1; }
threads=\$((10#\$3)) heaps=\$(printf '%x' "\$((10#\$3))")
for name in DOTNET COMPlus; do
    export "\${name}_gcServer=\$((threads > 1))" "\${name}_GCHeapCount=\$heaps" "\${name}_GCNoAffinitize=1"
    export "\${name}_GCgen0size=4000000" "\${name}_GCgen0MaxBudget=4000000"
done
exec "$dotnet" exec "$out/lab-dotnet.dll" "\$@"
RUN
chmod +x "$out/lab-dotnet"
echo "ok $out/lab-dotnet"
