#!/bin/sh
# Bring a virtual environment up to date with the pins.
#
#   sh tools/env.sh VENV LAYER...
#
# A layer is NAME, for requirements/NAME.txt (A+B installs two files together), or `-e DIR` for an
# editable install; PINS names another folder than requirements/. The stamp of a layer holds the
# checksums of its files, so a layer is installed again when its content changed, and an
# environment that was copied or lost its Python is built anew.
set -eu
venv=$1
shift
stamps=$venv/.stamps
pins=${PINS:-requirements}
step="sh tools/step.sh"

identity() { "$venv/bin/python" -c 'import sys; print(sys.prefix, sys.version)' 2>/dev/null; }

if [ ! -f "$stamps/venv" ] || [ "$(identity)" != "$(cat "$stamps/venv")" ]; then
    case $venv in *lowest) prefer=python3.11 ;; *) prefer= ;; esac
    # shellcheck disable=SC2086 # no preference is no argument
    python=$(sh tools/python.sh $prefer)
    [ ! -f "$venv/pyvenv.cfg" ] || rm -rf "$venv"
    $step "$venv: create with $("$python" --version)" "$python" -m venv "$venv"
    mkdir -p "$stamps"
    identity >"$stamps/venv"
fi

refresh() { # refresh STAMP LABEL FILES -- PIP-ARGUMENTS...
    stamp=$stamps/$1 label=$2 files=$3
    shift 4
    # shellcheck disable=SC2086 # a list of our own file names
    sums=$(cksum $files)
    [ -f "$stamp" ] && [ "$sums" = "$(cat "$stamp")" ] && return
    $step "$venv: $label" "$venv/bin/python" -m pip --disable-pip-version-check install \
        --quiet --no-build-isolation "$@"
    echo "$sums" >"$stamp"
}

while [ $# -gt 0 ]; do
    if [ "$1" = -e ]; then
        version=$(echo "$2"/src/*/_version.py)
        refresh "editable-$(basename "$(cd "$2" && pwd)")" "install $2 (editable)" \
            "$2/pyproject.toml $version" -- --no-deps --editable "$2"
        shift 2
        continue
    fi
    files='' arguments=''
    for name in $(echo "$1" | tr + ' '); do
        files="$files $pins/$name.txt"
        arguments="$arguments --requirement $pins/$name.txt"
    done
    # shellcheck disable=SC2086 # a list of our own file names
    count=$(grep -h '^[a-z].*==' $files | cut -d= -f1 | sort -u | wc -l | tr -d ' ')
    label="install $1 ($count pinned packages"
    case $(cat $files) in *'pyspark=='*) label="$label; Spark is 450 MB the first time" ;; esac
    # shellcheck disable=SC2086 # options of our own making
    refresh "$1" "$label)" "$files" -- --require-hashes $arguments
    shift
done
