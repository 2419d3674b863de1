#!/usr/bin/env bash
exec bash "$(dirname "$0")/../java/build.sh" "$1" java-fjp ForkJoin
