"""What is not installed is told before a run, with an extra that there is."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from ematix_flow.backends.registry import capabilities
from ematix_flow.errors import NotSupported
from ematix_flow.observe.check import Health

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

NO_DUCKDB = (
    "duckdb needs the package 'duckdb', which is not installed: pip install 'ematix-flow[duckdb]'"
)
NO_SPARK = "pyspark is not installed: pip install 'ematix-flow[spark]'"
NO_ARROW = (
    "sqlite needs the package 'pyarrow', which is not installed: pip install 'ematix-flow[sqlite]'"
)
BETWEEN_DATABASES = """
connect("app", kind="sqlite", path="app.db")
connect("out", kind="sqlite", path="out.db")

@ematix.table
class Copied:
    id: BigInt

@ematix.pipeline(target=Copied, source_connection="app", target_connection="out")
def load():
    return "SELECT id FROM given"
"""


@pytest.fixture
def without(monkeypatch):
    """Let this Python lack a package."""
    monkeypatch.delenv("EMATIX_FLOW_ENGINE", raising=False)

    def none(_):
        raise PackageNotFoundError

    def without(name):
        monkeypatch.setitem(sys.modules, name, None)
        if name == "pyspark":
            monkeypatch.setattr("ematix_flow.engine.doctor.version", none)

    return without


@pytest.fixture
def copying(project):
    project.sqlite("app.db", "CREATE TABLE given (id BIGINT)")
    project.declare(BETWEEN_DATABASES)
    return project


def test_a_plan_tells_which_packages_a_run_would_miss(project, without):
    project.with_orders(kind="duckdb")
    assert project.flow().plan("load_orders").blockers == ()
    without("duckdb")
    without("pyspark")
    flow = project.flow()
    assert flow.plan("load_orders").blockers == (NO_DUCKDB, NO_SPARK)
    with pytest.raises(NotSupported, match=r"pip install 'ematix-flow\[duckdb\]'"):
        flow.run("load_orders")
    assert not (project.path / "out.db").exists()


def test_a_load_between_databases_misses_no_spark(copying, without):
    without("pyspark")
    assert copying.flow().plan("load").blockers == ()
    assert copying.flow().run("load").path == "direct"
    with pytest.raises(NotSupported, match="a preview is computed by Spark: pyspark is not inst"):
        copying.flow().preview("load")
    assert copying.flow().dry_run("load").rows.read == 0
    without("pyarrow")
    assert copying.flow().plan("load").blockers == (NO_ARROW,)


def test_the_doctor_asks_for_what_is_needed(copying, make_project, without):
    without("pyspark")
    checks = {check.name: check for check in copying.flow().doctor()}
    assert checks["spark"].health is Health.NOTE
    assert "`flow plan` tells" in checks["spark"].finding
    assert not any(check.health is Health.PROBLEM for check in checks.values())
    without("duckdb")
    checks = {
        check.name: check for check in make_project("o").with_orders(kind="duckdb").flow().doctor()
    }
    assert checks["spark"].health is Health.PROBLEM
    assert checks["connection out"].health is Health.PROBLEM
    assert checks["connection out"].hint == "pip install 'ematix-flow[duckdb]'"


def test_every_extra_that_is_named_exists():
    named = {can.extra for can in capabilities().values()}
    for file in (ROOT / "src").rglob("*.py"):
        for extras in re.findall(r"ematix-flow\[([a-z,]+)\]", file.read_text(encoding="utf-8")):
            named |= set(extras.split(","))
    assert named <= set(EXTRAS)
