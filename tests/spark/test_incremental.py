"""Loads that go on from where the last one came: exactly the new rows, once."""

import csv
from datetime import datetime, timedelta

import duckdb
import pytest

from ematix_flow.errors import ContractError, FlowError

FROM_SQLITE = """
@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"

@ematix.connection
class out:
    kind = "{kind}"
    path = "out.db"

@ematix.table
class Events:
    id: Annotated[BigInt, pk()]
    what: Text

@ematix.pipeline(target=Events, source_connection="app", target_connection="out",
                 incremental_column="{column}"{more})
def load():
    return "SELECT id, what, {column} FROM events"
"""


def loaded(project, spark):
    return project.flow(session=spark).run("load").rows


def ids(project):
    return [row[0] for row in project.rows("out.db", "SELECT id FROM events ORDER BY id")]


def reached(project):
    """From where the next load reads on; None where that is the beginning."""
    return project.flow().plan("load").window.ends[0]


@pytest.mark.proves("strictly-after")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    ("sql_type", "values"),
    [
        ("INTEGER", [1, 2, 2**40, -5]),
        # As people write them: the text alone would sort the last one first.
        ("TIMESTAMP", ["2026-03-01 09:00:00", "2026-03-01T10:00", "2026-03-02", "2026-03-01"]),
        ("TEXT", ["a", "ab", "ä", "B"]),
    ],
)
def test_a_run_reads_what_lies_strictly_above_the_last_one(project, spark, kind, sql_type, values):
    project.declare(FROM_SQLITE.format(kind=kind, column="seen", more=""))
    insert = "INSERT INTO events VALUES ({}, 'x', {!r})"
    project.sqlite(
        "app.db",
        f"CREATE TABLE events (id INTEGER, what TEXT, seen {sql_type})",
        *(insert.format(number, value) for number, value in enumerate(values[:2])),
    )
    assert loaded(project, spark).inserted == 2
    assert loaded(project, spark).read == 0
    # One above, one equal to the watermark, one below.
    rows = [(2, values[2]), (3, values[3]), (4, values[1])]
    project.sqlite("app.db", *(insert.format(*row) for row in rows))
    assert loaded(project, spark).inserted == 1
    assert ids(project) == [0, 1, 2]
    plan = project.flow().plan("load")
    assert str(plan.window).startswith("seen > ")


@pytest.mark.proves("strictly-after")
def test_files_are_read_from_the_watermark_on_too(project, spark):
    project.declare(
        FROM_SQLITE.format(kind="duckdb", column="seen", more="").replace(
            'kind = "sqlite"\n    path = "app.db"', 'kind = "csv"\n    path = "data"'
        )
    )
    # In a file everything is text, and text is not ordered like what it says.
    project.csv("events", ("id", "what", "seen"), [("1", "x", "9")])
    with pytest.raises(ContractError, match="in CSV files it is text"):
        loaded(project, spark)
    project.declare(
        FROM_SQLITE.format(kind="duckdb", column="seen", more="")
        .replace('kind = "sqlite"\n    path = "app.db"', 'kind = "csv"\n    path = "data"')
        .replace("what, seen FROM", "what, CAST(seen AS TIMESTAMP) AS seen FROM")
    )
    file = project.csv("events", ("id", "what", "seen"), [("1", "x", "2026-03-01 09:00:00")])
    assert loaded(project, spark).inserted == 1
    with file.open("a", newline="", encoding="utf-8") as opened:
        csv.writer(opened).writerows(
            [("2", "y", "2026-03-01 09:00:00"), ("3", "z", "2026-03-01 09:00:01")]
        )
    assert loaded(project, spark).inserted == 1
    assert ids(project) == [1, 3]


@pytest.mark.proves("strictly-after")
def test_a_function_on_frames_is_given_the_same_window(project, spark):
    project.declare(
        FROM_SQLITE.format(kind="duckdb", column="seen", more="").replace(
            'def load():\n    return "SELECT id, what, seen FROM events"',
            'def load(src):\n    return src.table("events")',
        )
    )
    project.sqlite(
        "app.db",
        "CREATE TABLE events (id INTEGER, what TEXT, seen INTEGER)",
        "INSERT INTO events VALUES (1, 'x', 1)",
    )
    assert loaded(project, spark).inserted == 1
    project.sqlite("app.db", "INSERT INTO events VALUES (2, 'x', 1), (3, 'x', 2)")
    assert loaded(project, spark).inserted == 1
    assert ids(project) == [1, 3]


@pytest.mark.proves("lookback")
def test_lookback_finds_rows_that_came_late_and_adds_none_twice(project, spark):
    project.declare(FROM_SQLITE.format(kind="duckdb", column="seen", more=", lookback='1h'"))
    start = datetime(2026, 3, 1, 9)
    moments = [(start + timedelta(minutes=each)).isoformat(sep=" ") for each in (0, 50, 100)]
    insert = "INSERT INTO events VALUES ({}, 'x', {!r})"
    project.sqlite(
        "app.db",
        "CREATE TABLE events (id INTEGER, what TEXT, seen TIMESTAMP)",
        *(insert.format(number, moment) for number, moment in enumerate(moments)),
    )
    assert loaded(project, spark).inserted == 3
    late = [(3, start + timedelta(minutes=60)), (4, start + timedelta(minutes=10))]
    project.sqlite("app.db", *(insert.format(number, str(at)) for number, at in late))
    assert loaded(project, spark).inserted == 1
    assert ids(project) == [0, 1, 2, 3]
    assert project.flow().plan("load").window.start == "> timestamp 2026-03-01 10:40:00.000000"


@pytest.mark.proves("failed-keeps-watermark", "nothing-half-written")
def test_a_row_without_a_cursor_stops_the_load(project, spark):
    project.declare(FROM_SQLITE.format(kind="duckdb", column="seen", more=""))
    project.sqlite(
        "app.db",
        "CREATE TABLE events (id INTEGER, what TEXT, seen INTEGER)",
        "INSERT INTO events VALUES (1, 'x', 1), (2, 'x', NULL)",
    )
    with pytest.raises(FlowError) as refused:
        loaded(project, spark)
    assert "row id=2: seen is NULL, so no incremental load would ever read the row" in str(
        refused.value
    )
    assert (ids(project), reached(project)) == ([], None)
    project.sqlite("app.db", "UPDATE events SET seen = 2 WHERE id = 2")
    assert loaded(project, spark).inserted == 2
    assert reached(project) == "> integer 2"


@pytest.mark.proves("failed-keeps-watermark", "nothing-half-written")
def test_a_load_that_fails_leaves_the_watermark_and_the_next_reads_its_rows(project, spark):
    project.declare(FROM_SQLITE.format(kind="duckdb", column="seen", more=""))
    project.sqlite(
        "app.db",
        "CREATE TABLE events (id INTEGER, what TEXT, seen INTEGER)",
        "INSERT INTO events VALUES (1, 'x', 1)",
    )
    assert loaded(project, spark).inserted == 1
    project.sqlite("app.db", "INSERT INTO events VALUES (2, NULL, 5), (3, 'x', 7)")
    with pytest.raises(FlowError, match="row id=2: what is NULL"):
        loaded(project, spark)
    assert (ids(project), reached(project)) == ([1], "> integer 1")
    project.sqlite("app.db", "UPDATE events SET what = 'y' WHERE id = 2")
    assert loaded(project, spark).inserted == 2
    assert (ids(project), reached(project)) == ([1, 2, 3], "> integer 7")


@pytest.mark.proves("backfill")
def test_a_part_of_the_past_is_from_its_first_value_to_before_its_last(project, spark):
    project.declare(FROM_SQLITE.format(kind="duckdb", column="seen", more=""))
    project.sqlite(
        "app.db",
        "CREATE TABLE events (id INTEGER, what TEXT, seen DATE)",
        *(f"INSERT INTO events VALUES ({day}, 'x', '2026-03-0{day}')" for day in range(1, 6)),
    )
    flow = project.flow(session=spark)
    flow.run("load")
    with duckdb.connect(str(project.path / "out.db")) as database:
        database.execute("DELETE FROM events WHERE id BETWEEN 2 AND 4")
    # Again: what is there by now is not added twice, though the mode is append.
    for inserted in (2, 0):
        [chunk] = flow.backfill("load", "2026-03-02", "2026-03-04").chunks
        assert chunk.window == (">= date 2026-03-02", "< date 2026-03-04")
        assert (chunk.rows.read, chunk.rows.inserted) == (2, inserted)
    assert ids(project) == [1, 2, 3, 5]


def test_each_of_several_targets_takes_what_it_lacks(project, spark):
    one = FROM_SQLITE.format(kind="duckdb", column="seen", more="")
    project.declare(one)
    project.sqlite(
        "app.db",
        "CREATE TABLE events (id INTEGER, what TEXT, seen INTEGER)",
        "INSERT INTO events VALUES (1, 'x', 1), (2, 'x', 2)",
    )
    assert loaded(project, spark).inserted == 2
    project.sqlite("app.db", "INSERT INTO events VALUES (3, 'x', 3)")
    project.declare(
        one.replace(
            'target=Events, source_connection="app", target_connection="out"',
            'source_connection="app", targets=[ematix.target(Events, "out"), '
            'ematix.target("copies", "out")]',
        )
    )
    loaded(project, spark)
    assert ids(project) == [1, 2, 3]
    copies = project.rows("out.db", "SELECT id, seen FROM copies ORDER BY id")
    assert copies == [(1, 1), (2, 2), (3, 3)]
    loaded(project, spark)
    assert ids(project) == [1, 2, 3]
