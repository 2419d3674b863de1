#!/usr/bin/env bash
exec bash "$(dirname "$0")/../rust/build.sh" "$1" crossbeam
