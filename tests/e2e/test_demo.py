"""`flow demo`: what it tells is what it did."""

from decimal import Decimal

import pytest

from tests.projects import ProjectFolder

pytestmark = pytest.mark.every_engine

# By pipeline: read, inserted, updated, unchanged, closed, deleted.
FIRST = {
    "customers": (30, 30, 0, 0, 0, 0),
    "customer_history": (33, 32, 0, 0, 0, 0),
    "products": (8, 8, 0, 0, 0, 0),
    "orders": (600, 600, 0, 0, 0, 0),
    "daily_revenue": (92, 92, 0, 0, 0, 0),
}
SECOND = {
    "customers": (30, 1, 2, 27, 0, 1),
    "customer_history": (5, 5, 1, 0, 3, 0),
    "products": (8, 0, 1, 7, 0, 0),
    "orders": (7, 7, 0, 0, 0, 0),
    "daily_revenue": (96, 4, 1, 91, 0, 0),
}
HISTORY = [
    ("Ada", "London", "01 01:00", "12 18:00", ""),
    ("Ada", "Paris", "12 18:00", "31 09:10", "closed"),
    ("Ada", "Oslo", "31 09:10", None, "opened"),
    ("Alan", "Manchester", "01 02:00", "09 10:00", "ends earlier"),
    ("Alan", "Bath", "09 10:00", "20 09:30", "late, spliced in"),
    ("Alan", "London", "20 09:30", None, ""),
    ("Grace", "New York", "01 03:00", "31 11:00", "closed"),
    ("Katherine", "Hampton", "01 04:00", "10 08:00", "closed"),
    ("Katherine", "Langley", "10 08:00", "15 12:00", "late, spliced in"),
    ("Katherine", "Hampton", "15 12:00", None, "late, spliced in"),
    ("Edsger", "Austin", "31 14:25", None, "opened"),
]
SUMS = [
    ("2026-03-28", "kitchen", [6, 8], ["437.50", "555.50"]),
    ("2026-03-31", "clothes", [None, 1], [None, "24.00"]),
    ("2026-03-31", "home", [None, 1], [None, "25.80"]),
    ("2026-03-31", "kitchen", [None, 2], [None, "79.50"]),
    ("2026-03-31", "paper", [None, 1], [None, "12.60"]),
]


@pytest.mark.proves(
    "exact-counts", "scd2-change", "late-spliced", "apply-as-deletes", "hard-deletes"
)
def test_the_demo_answers_programs_with_what_the_warehouse_holds(tmp_path):
    told = ProjectFolder(tmp_path).json("demo", "shop")
    assert [counts(runs) for runs in told["loads"]] == [FIRST, SECOND]
    assert [
        (each["name"], each["city"], day(each["valid_from"]), day(each["valid_to"]), each["change"])
        for each in told["history"]
    ] == HISTORY
    assert [tuple(each.values()) for each in told["daily_revenue"]] == SUMS

    shop = ProjectFolder(tmp_path / "shop")
    held = shop.rows(
        "results/warehouse.duckdb",
        "SELECT name, city, strftime(valid_from, '%d %H:%M'), strftime(valid_to, '%d %H:%M'), "
        "is_current FROM customer_history WHERE customer_id <= 4 OR customer_id = 31 "
        "ORDER BY customer_id, valid_from",
    )
    assert held == [(*row[:4], row[3] is None) for row in HISTORY]
    # Grace has left the shop, Edsger has come, and the others are all there.
    known = shop.rows("results/warehouse.duckdb", "SELECT customer_id FROM customers ORDER BY 1")
    assert known == [(number,) for number in range(1, 32) if number != 3]
    # The sums of the warehouse are those of the shop itself.
    [(sold,)] = shop.rows("data/shop.db", "SELECT round(sum(quantity * unit_price), 2) FROM orders")
    [(summed,)] = shop.rows("results/warehouse.duckdb", "SELECT sum(revenue) FROM daily_revenue")
    assert summed == Decimal(str(sold))


@pytest.mark.proves("merge-idempotent")
def test_the_demo_tells_people_its_story_and_can_run_again(tmp_path):
    folder = ProjectFolder(tmp_path)
    shop = ProjectFolder(tmp_path / "ematix-demo")
    shop.write(".ematix-demo", "")
    shop.write("left_behind.py", "")
    done = folder.cli("demo")
    assert done.returncode == 0, done.stderr
    assert not (shop.path / "left_behind.py").exists()
    told = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for number in range(1, 7):
        assert any(line.startswith(f"{number}. ") for line in told), number
    for line in (
        "customers: One row per customer, and none for those who are gone.",
        "customers merge 30 1 2 27 1",
        "daily_revenue merge 96 4 1 91",
        "daily_revenue never left DuckDB: no Spark, no row on the way.",
        "Alan Bath 2026-03-09 10:00 2026-03-20 09:30 late, spliced in",
        "Ada Oslo 2026-03-31 09:10 opened",
        "2026-03-28 kitchen 6 8 437.50 555.50",
        "Where the results are:",
        "What to try next:",
    ):
        assert line in told, line
    assert "\x1b" not in done.stdout

    flow = shop.flow()
    again = [flow.run(name).rows for name in flow.order(())]
    changed = [(each.inserted, each.updated, each.closed, each.deleted) for each in again]
    assert changed == [(0, 0, 0, 0)] * 5


def test_the_demo_leaves_a_folder_of_yours_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    refused = ProjectFolder(tmp_path).cli("demo", "mine")
    assert refused.returncode == 2
    assert "is not empty and not an earlier demo" in refused.stderr
    assert [each.name for each in (tmp_path / "mine").iterdir()] == ["file"]


def counts(runs):
    names = ("read", "inserted", "updated", "unchanged", "closed", "deleted")
    return {run["pipeline"]: tuple(run["rows"][name] for name in names) for run in runs}


def day(instant):
    return instant and instant[8:16]
