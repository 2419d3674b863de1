#!/usr/bin/env bash
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
# Debian has it in /usr/sbin, which the PATH of a user leaves out: look beside each bin, too.
nginx=$(PATH=$PATH:${PATH//\/bin/\/sbin} command -v nginx) ||
    { echo "no nginx is not installed (package nginx-light)"; exit 0; }
version=$("$nginx" -v 2>&1)
echo "version ${version#*nginx/}"
mkdir -p "$1/nginx" || exit 1
printf '#!/bin/sh\nexec python3 "%s" "%s" "$@"\n' "$here/serve.py" "$nginx" >"$1/nginx/lab-nginx" &&
    chmod +x "$1/nginx/lab-nginx" && echo "ok $1/nginx/lab-nginx"
