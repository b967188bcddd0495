#!/bin/sh
# Print a Python that can build our environments: 3.11 or newer, with venv.
#
#   sh tools/python.sh [PREFERRED...]
#
# $PYTHON, if set, is taken or refused but never replaced by another.
set -u

usable() { # usable COMMAND NEWEST-MINOR
    "$1" -c "
import sys
assert (3, 11) <= sys.version_info < (3, $2 + 1)
import ensurepip, venv
print(sys.executable)" 2>/dev/null
}

if [ -n "${PYTHON:-}" ]; then
    usable "$PYTHON" 99 && exit 0
    echo "PYTHON=$PYTHON is not a Python 3.11 or newer with the venv and ensurepip modules." >&2
    exit 1
fi

# The pins have wheels up to 3.14; a newer Python is only used where there is no other.
for newest in 14 99; do
    for python in "$@" python3 python3.14 python3.13 python3.12 python3.11 python; do
        usable "$python" "$newest" && exit 0
    done
done

echo "No Python 3.11 or newer with the venv and ensurepip modules was found." >&2
for python in python3 python; do
    found=$(command -v "$python") && echo "  $found is $("$found" --version 2>&1)" >&2
done
echo "Hint: install one (on Debian and Ubuntu also python3-venv), or name it: make PYTHON=/path/to/python3" >&2
exit 1
