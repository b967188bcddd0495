#!/bin/sh
# Build ematix-flow and ematix-probe (sdist, and the wheel from it) and try the wheels in a clean
# environment that holds nothing but the pins of base.txt: no Spark.
set -eu
step="sh tools/step.sh"
rm -rf dist
for project in . probe; do
    $step "build $project" .venv/bin/python -m build --no-isolation --outdir dist "$project"
done

sh tools/env.sh .venv-wheel base
$step "install the wheels" .venv-wheel/bin/python -m pip --disable-pip-version-check install \
    --quiet --no-deps --no-index --force-reinstall dist/*.whl

root=$PWD
elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
cd "$elsewhere"
"$root/.venv-wheel/bin/python" -m pip --disable-pip-version-check check >pip-check.txt || {
    cat pip-check.txt
    exit 1
}
sh "$root/tools/step.sh" "try the wheels" "$root/.venv-wheel/bin/python" - <<'PY'
import importlib.util
import subprocess
import sys
from importlib.metadata import distribution, entry_points
from pathlib import Path

import ematix_flow
import ematix_probe

for package in (ematix_flow, ematix_probe):
    home = Path(package.__file__).parent
    assert home.is_relative_to(sys.prefix), f"{home} is not from the wheel"
    assert (home / "py.typed").is_file(), f"{home} lacks py.typed"
assert importlib.util.find_spec("pyspark") is None, "the base wheel must not bring Spark"
assert "Apache-2.0" in distribution("ematix-flow").metadata["License-Expression"]
for backend in entry_points(group="ematix_flow.backends"):
    backend.load()
flow = Path(sys.prefix, "bin", "flow")
for arguments in (["--help"], ["--version"]):
    subprocess.run([flow, *arguments], check=True)
PY
