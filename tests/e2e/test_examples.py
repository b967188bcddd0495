"""Each example runs and leaves what it says."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.projects import ProjectFolder

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXPECTED = {
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


def test_every_example_is_tested_and_listed():
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    assert folders == set(EXPECTED)
    listed = (EXAMPLES / "README.md").read_text()
    assert all(f"[{name}]({name})" in listed for name in folders)


@pytest.mark.every_engine
@pytest.mark.parametrize("name", EXPECTED)
def test_an_example_runs(name, tmp_path):
    shutil.copytree(EXAMPLES / name, tmp_path / name)
    project = ProjectFolder(tmp_path / name)
    if name == "sqlite_report":
        subprocess.run([sys.executable, "pipelines.py"], cwd=project.path, check=True)
    flow = project.flow()
    for pipeline in flow.order(()):
        flow.run(pipeline)
    database, query, rows = EXPECTED[name]
    assert project.rows(database, query) == rows
