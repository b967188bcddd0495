#!/bin/sh
# Run one long step quietly: say what and how long, show its output only when it fails.
#
#   sh tools/step.sh LABEL COMMAND [ARGUMENT...]
set -u
label=$1
shift
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
printf '%s ... ' "$label"
start=$(date +%s)
if "$@" >"$log" 2>&1; then
    printf 'done (%s s)\n' "$(($(date +%s) - start))"
else
    status=$?
    printf 'FAILED after %s s: %s\n' "$(($(date +%s) - start))" "$*"
    cat "$log"
    exit "$status"
fi
