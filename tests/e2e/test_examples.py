"""Each example runs and leaves what it says."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.projects import ProjectFolder

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXPECTED = {
    "backfill": (
        "warehouse.duckdb",
        "SELECT meter, month(day), count(*), sum(litres)::INTEGER FROM readings "
        "GROUP BY 1, 2 ORDER BY 1, 2",
        [("north", 1, 31, 310), ("north", 2, 28, 280), ("south", 2, 28, 560)],
    ),
    "csv_to_duckdb": (
        "warehouse.duckdb",
        "SELECT sensor, readings, celsius FROM sensors.averages ORDER BY sensor",
        [("attic", 3, 7.0), ("cellar", 2, 11.25)],
    ),
    "dialects": (
        "reports.db",
        "SELECT city, day, rain, half FROM wettest_day ORDER BY city",
        [("Oslo", "2026-03-02", 12, 6), ("Rome", "2026-03-02", 3, 1)],
    ),
    "frames": (
        "warehouse.duckdb",
        "SELECT bike, trips, metres FROM bikes.mileage ORDER BY bike",
        [("blue", 1, 850.0), ("red", 2, 1300.0)],
    ),
    "history": (
        "warehouse.duckdb",
        "SELECT employee, team, strftime(valid_from, '%m-%d'), strftime(valid_to, '%m-%d') "
        "FROM assignments ORDER BY employee, valid_from",
        [
            ("mira", "support", "01-05", "06-01"),
            ("mira", "sales", "06-01", None),
            ("otto", "sales", "02-01", "07-31"),
        ],
    ),
    "normalization": (
        "warehouse.duckdb",
        "SELECT id, email, phone, CAST(joined AS VARCHAR), CAST(spent AS VARCHAR), newsletter, "
        "city FROM contacts ORDER BY id",
        [
            (
                1,
                "ada.lovelace@example.org",
                "+49301234567",
                "2025-12-10",
                "1234.50",
                True,
                "Berlin",
            ),
            (2, "grace@example.org", "+12025550143", "2026-01-09", "0.00", False, None),
            (3, "alan@example.org", None, "2026-01-31", "18.00", False, "Bletchley"),
        ],
    ),
    "sqlite_report": (
        "reports.db",
        "SELECT day, orders, revenue FROM daily_sales ORDER BY day",
        [("2026-03-01", 2, "24.90"), ("2026-03-02", 1, "42.50")],
    ),
    "connections": (
        "warehouse.duckdb",
        "SELECT order_id, country, CAST(amount AS VARCHAR) FROM orders ORDER BY order_id",
        [(1, "DE", "10.50"), (2, "FR", "7.00"), (3, "DE", "4.25")],
    ),
    "udf": (
        "warehouse.duckdb",
        "SELECT product, mean_price FROM market.prices ORDER BY product",
        [("AB100", 12.0), ("ZX7", 2.5)],
    ),
}


# Run by the real ones: see test_orchestrators.
ORCHESTRATED = {"airflow", "dagster", "prefect"}


@pytest.mark.proves("examples-run")
def test_every_example_is_tested_and_listed():
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    assert folders == set(EXPECTED) | ORCHESTRATED
    listed = (EXAMPLES / "README.md").read_text()
    assert all(f"[{name}]({name})" in listed for name in folders)


# Their own script writes the database that they read.
WRITE_THEIR_SOURCE = {"backfill", "history", "sqlite_report"}


@pytest.mark.proves("examples-run")
@pytest.mark.every_engine
@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs(name, tmp_path):
    project = loaded(name, tmp_path)
    database, query, rows = EXPECTED[name]
    assert project.rows(database, query) == rows


@pytest.mark.proves("examples-run", "late-spliced", "apply-as-deletes")
@pytest.mark.every_engine
def test_the_history_example_splices_in_what_comes_late(tmp_path):
    project = loaded("history", tmp_path)
    script(project, "late")
    flow = project.flow()
    assert [flow.run(name).rows.read for name in flow.order(())] == [3, 3]
    database, query, _ = EXPECTED["history"]
    assert project.rows(database, query) == [
        ("mira", "support", "01-05", "03-15"),
        ("mira", "quality", "03-15", "06-01"),
        ("mira", "sales", "06-01", None),
        ("otto", "sales", "02-01", "04-30"),
        ("otto", "support", "05-18", "07-31"),
    ]
    assert project.rows(database, "SELECT employee, team FROM staff") == [("mira", "sales")]


@pytest.mark.proves("examples-run", "backfill")
@pytest.mark.every_engine
def test_the_backfill_example_corrects_january(tmp_path):
    project = loaded("backfill", tmp_path)
    script(project, "correct")
    flow = project.flow()
    assert flow.run("readings").rows.read == 0
    done = flow.backfill("readings", "2026-01-01", "2026-02-01", chunk="7d")
    assert [chunk.rows.inserted for chunk in done.chunks] == [7, 7, 7, 7, 3]
    assert [chunk.rows.updated for chunk in done.chunks] == [0, 0, 1, 0, 0]
    assert flow.run("readings").rows.read == 0
    database, query, _ = EXPECTED["backfill"]
    assert project.rows(database, query) == [
        ("north", 1, 31, 312),
        ("north", 2, 28, 280),
        ("south", 1, 31, 620),
        ("south", 2, 28, 560),
    ]


def loaded(name, tmp_path):
    shutil.copytree(EXAMPLES / name, tmp_path / name)
    project = ProjectFolder(tmp_path / name)
    if name in WRITE_THEIR_SOURCE:
        script(project)
    flow = project.flow()
    for pipeline in flow.order(()):
        flow.run(pipeline)
    return project


def script(project, *arguments):
    subprocess.run([sys.executable, "pipelines.py", *arguments], cwd=project.path, check=True)
