#!/usr/bin/env bash
exec bash "$(dirname "$0")/../cforall/build.sh" "$1" cforall-coroutine
