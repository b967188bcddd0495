#!/bin/sh
# Prints the options with which pytest shares its work among processes: jobs.sh [HOW-MANY]
set -eu
jobs=${1:-$(getconf _NPROCESSORS_ONLN)}
# More than two would each hold a Spark of their own, and wait for the same servers.
[ -n "${1:-}" ] || [ "$jobs" -le 2 ] || jobs=2
[ "$jobs" -le 1 ] || echo "-n $jobs --dist loadfile --no-loadscope-reorder"
