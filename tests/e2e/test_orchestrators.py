"""The examples for orchestrators, run by the real ones in an environment of their own."""

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.projects import ProjectFolder
from tests.services.absence import absent

ROOT = Path(__file__).resolve().parents[2]
# The pins of each, and so the environment: Airflow gets on with no other.
PINS = {"airflow": "airflow", "dagster": "orchestrators", "prefect": "orchestrators"}
SALES = [("2026-03-01", 2, "25.00"), ("2026-03-02", 1, "42.50")]
EXPECTED = {
    "airflow": (
        {"tasks": {"orders": ["sales"], "sales": []}, "loaded": {"orders": 3, "sales": 2}},
        SALES,
    ),
    "dagster": (
        {"tasks": {"orders": ["sales"], "sales": []}, "loaded": {"orders": 3, "sales": 2}},
        SALES,
    ),
    "prefect": (
        {"tasks": ["shop-flow", "orders", 2], "loaded": {"busiest_days": 1}},
        SALES[:1],
    ),
}


@functools.cache
def python_of(name):
    """The Python that has the orchestrator, and flow with Sail: no JVM."""
    environment = f".venv-{PINS[name]}"
    made = subprocess.run(
        ["sh", "tools/env.sh", environment, "build", PINS[name], "-e", "."],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        absent(f"{environment} cannot be made:\n{made.stdout}{made.stderr}")
    return ROOT / environment / "bin" / "python"


@pytest.mark.proves("orchestrators", "examples-run")
@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_an_orchestrator_runs_our_pipelines(name, tmp_path):
    project = ProjectFolder(tmp_path / name)
    shutil.copytree(ROOT / "examples" / name, project.path, dirs_exist_ok=True)
    home = str(tmp_path / "home")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "EMATIX_FLOW_ENGINE": "sail",
        "AIRFLOW_HOME": home,
        "AIRFLOW__CORE__DAGS_FOLDER": str(project.path),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "PREFECT_HOME": home,
        "PREFECT_LOGGING_LEVEL": "WARNING",
        "DO_NOT_TRACK": "1",
        "DAGSTER_HOME": "",
        "DAGSTER_DISABLE_TELEMETRY": "true",
    }

    def run(*arguments):
        done = subprocess.run(
            [str(python_of(name)), *arguments],
            cwd=project.path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("pipelines.py")
    if name == "airflow":
        run("-m", "airflow", "db", "migrate")
    facts, sales = EXPECTED[name]
    told = run(str(Path(__file__).parent / "orchestrators" / f"{name}_facts.py"))
    assert json.loads(told.splitlines()[-1]) == facts
    query = "SELECT CAST(day AS VARCHAR), orders, CAST(revenue AS VARCHAR) FROM sales ORDER BY day"
    assert project.rows("warehouse.duckdb", query) == sales
