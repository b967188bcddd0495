#!/bin/sh
# Write requirements/*.txt from pyproject.toml and requirements/*.in: pinned, hashed, for every
# platform and every Python from 3.11, and free of index addresses and machine paths.
#
#   sh tools/lock.sh [--upgrade]
#
# Without --upgrade the pins that still fit are kept. The index is uv's own default or what the
# environment says (UV_DEFAULT_INDEX).
set -eu
sh tools/env.sh .venv-lock lock

export UV_CUSTOM_COMPILE_COMMAND="make lock"
compile() { # compile NAME ARGUMENTS...
    name=$1
    shift
    .venv-lock/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 \
        --python .venv-lock/bin/python --no-python-downloads \
        --generate-hashes --no-emit-index-url --no-emit-find-links \
        --output-file "requirements/$name.txt" "$@" >/dev/null
    echo "requirements/$name.txt: $(grep -c '^[a-z].*==' "requirements/$name.txt") pins"
}
upgrade=${1:-}

# The largest set decides; the others follow it, so that any of them can share an environment.
backends="--extra sqlite --extra duckdb --extra mysql --extra postgres"
secrets="--extra vault --extra aws --extra gcp"
# shellcheck disable=SC2086 # options of our own making
compile dev pyproject.toml --extra spark $backends $secrets requirements/dev.in $upgrade
same="--constraints requirements/dev.txt"
# shellcheck disable=SC2086 # options of our own making
{
    compile base $same pyproject.toml $upgrade
    for extra in spark sail java duckdb mysql postgres; do
        compile "$extra" $same pyproject.toml --extra "$extra" $upgrade
    done
    compile test $same pyproject.toml --extra spark $backends $secrets requirements/test.in $upgrade
    compile unit $same requirements/unit.in $upgrade
    compile clients $same requirements/clients.in $upgrade
    compile build $same requirements/build.in $upgrade
    compile lowest --resolution lowest-direct \
        pyproject.toml --extra spark $backends $secrets requirements/unit.in $upgrade
    compile lock requirements/lock.in $upgrade
    compile tpc requirements/tpc.in $upgrade
    for each in airflow orchestrators; do
        compile "$each" $same pyproject.toml --extra sail --extra duckdb \
            "requirements/$each.in" $upgrade
    done
    # The peers of the benchmarks, each in an environment of its own.
    for peer in ematix-flow-1 dlt; do
        compile "../benchmarks/requirements/$peer" "benchmarks/requirements/$peer.in" $upgrade
    done
}

if grep -n -E 'https?:|--(index-url|extra-index-url|find-links)|(^|[^a-z.])/[a-z]+/' \
    requirements/*.txt benchmarks/requirements/*.txt; then
    echo "An address or a machine path got into the pins (above)." >&2
    exit 1
fi
