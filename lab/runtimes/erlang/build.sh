#!/usr/bin/env bash
# build.sh OUT: compiles the port below OUT/erlang and prints `ok PROGRAM` or `no REASON` as its
# last line.
set -u
out=$1/erlang
command -v erlc >/dev/null && command -v erl >/dev/null ||
    { echo "no erlc is not installed (package erlang-base)"; exit 0; }
cd "$(dirname "$0")" || exit 1
mkdir -p "$out" || exit 1
erlc -Werror -o "$out" ./*.erl || { echo "no erlc cannot build it, see the log"; exit 0; }
echo "version OTP $(erl -noinput -eval 'io:put_chars(erlang:system_info(otp_release)), halt().')"
# The launcher starts one scheduler for each thread, and allows as many processes as the size needs.
cat > "$out/lab-erlang" <<SCRIPT
#!/usr/bin/env bash
[[ \$# == 3 && \$3 =~ ^[0-9]+\$ ]] || { echo "usage: WORKLOAD SIZE THREADS" >&2; exit 1; }
most=262144 # processes; a larger table would take more memory
[[ \$1 == skynet-* || \$1 == fibers-blocked ]] && ((2 * \$2 > most)) && most=\$((2 * \$2))
[[ \$1 == savina-fib ]] && ((\$2 > 25)) && most=\$((1 << (\$2 < 34 ? \$2 - 7 : 27)))
ERL_CRASH_DUMP_SECONDS=0 exec erl -noinput +S "\$3:\$3" +P "\$most" -pa "$out" -s lab main \\
    -extra "\$1" "\$2"
SCRIPT
chmod +x "$out/lab-erlang"
echo "ok $out/lab-erlang"
