"""Rows that this process carries from one database into another: as if Spark had done it."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from ematix_flow.errors import ContractError, PlanError, SourceError
from tests.backends.places import Places
from tests.backends.test_paths import (
    GIVEN_ROWS,
    KINDS,
    SCENARIOS,
    TEXT_OF,
    Comparison,
    assert_nothing_written,
    execute,
    spark,  # noqa: F401  # a fixture
)

PATHS = ("direct", "spark")
NAMES = ("sqlite", "duckdb", "postgres", "mysql")


def scenarios_of(source: str, target: str) -> tuple[str, ...]:
    """Every pair gets some; every source and every target gets them all."""
    names, first = list(SCENARIOS), NAMES.index(source) + NAMES.index(target)
    return tuple(names[(first + step) % len(names)] for step in (0, 2, 4))


@pytest.mark.proves("paths-agree")
@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
@pytest.mark.parametrize("turn", range(3))
def test_both_paths_give_the_same_table(places, spark, source, target, turn):  # noqa: F811
    Comparison(
        places=places,
        source=source,
        target=target,
        place="out",
        paths=PATHS,
        scenario=scenarios_of(source, target)[turn],
    ).run(spark)


BAD = """
@ematix.table
class Checked:
    id: Annotated[BigInt, pk()]
    small: SmallInt | None
    code: String[3]

@ematix.pipeline(
    target=Checked, mode="merge", sequence_by="version", apply_as_deletes="gone",
    source_connection="db", target_connection="out", force_path="{path}",
)
def load():
    return "SELECT id, small, code, version, gone FROM given"
"""


@pytest.mark.proves("paths-agree", "values-refused", "null-in-not-null")
@pytest.mark.parametrize("target", KINDS)
def test_both_paths_refuse_the_same_rows_in_the_same_words(places, spark, target):  # noqa: F811
    rows = ", ".join(GIVEN_ROWS).format(t="TRUE", f="FALSE")
    columns = f"id BIGINT, small INTEGER, code {TEXT_OF['duckdb']}, version BIGINT, gone BOOLEAN"
    statements = [f"CREATE TABLE given ({columns})", f"INSERT INTO given VALUES {rows}"]
    execute(places, "duckdb", statements)
    told = []
    for path in PATHS:
        connections = places.declare("db", "duckdb") + places.declare("out", target)
        places.project.declare(connections + BAD.format(path=path))
        flow = places.project.flow(environ=places.environ(), session=spark)
        with pytest.raises(ContractError) as caught:
            flow.run("load")
        error = caught.value
        assert error.details is not None
        told.append((error.what, sorted(error.details.splitlines())))
        assert_nothing_written(places, "out")
    assert told[0] == told[1]
    assert told[0][0].startswith("5 of 7 rows break the declaration of checked")


PLAIN = """
@ematix.table
class Copied:
    id: Annotated[BigInt, pk()]
    words: Text | None
    ratio: Double | None

@ematix.pipeline(
    target=Copied, mode="merge", source_connection="db", target_connection="out", {options}
)
def load():
    return "{query}"
"""


def plain(places: Places, source: str, target: str, query: str, options: str = "", **environ: str):
    project = PLAIN.format(query=query, options=options)
    places.project.declare(places.declare("db", source) + places.declare("out", target) + project)
    environ = {"EMATIX_FLOW_DIRECT_UP_TO": "1 GB", **environ}
    return places.project.flow(environ={**places.environ(), **environ})


ODD = "CREATE TABLE odd (id BIGINT, words TEXT, ratio DOUBLE)"
ALL_OF_IT = "SELECT id, words, ratio FROM odd"
CANNOT = {
    "postgres": ("(7, 'a' || chr(0), 1.0)", "words holds a NUL character", "id=7"),
    "mysql": ("(7, 'a', 'inf')", "ratio is no finite number: inf", "id=7"),
    "sqlite": ("(7, 'a', 'nan')", "ratio is NaN, which SQLite would silently store", "id=7"),
}


@pytest.mark.proves("values-refused", "nothing-half-written")
@pytest.mark.parametrize("target", [each for each in KINDS if each != "duckdb"])
def test_a_value_that_the_target_cannot_hold_is_told_with_its_row(places, target):
    row, what, key = CANNOT[target]
    rows = f"INSERT INTO odd SELECT range, 'fine', 0.5 FROM range(6) UNION ALL VALUES {row}"
    execute(places, "duckdb", [ODD, rows])
    flow = plain(places, "duckdb", target, ALL_OF_IT)
    with pytest.raises(ContractError) as caught:
        flow.run("load")
    assert what in str(caught.value)
    assert key in str(caught.value)
    assert places.rows("out", "SELECT count(*) FROM copied") == [(0,)]


@pytest.mark.parametrize("target", KINDS)
@pytest.mark.parametrize("source", KINDS)
def test_no_rows_are_no_trouble(places, source, target):
    execute(places, source, [ODD.replace("DOUBLE", "DOUBLE PRECISION")])
    flow = plain(places, source, target, ALL_OF_IT)
    result = flow.run("load")
    assert (result.path, result.rows.read, result.rows.inserted) == ("direct", 0, 0)


@pytest.mark.services
def test_a_failure_of_the_source_is_not_told_as_the_targets(places):
    execute(places, "postgres", [ODD.replace("DOUBLE", "float8")])
    execute(places, "postgres", ["INSERT INTO odd SELECT n, 'a', n FROM generate_series(0, 9) n"])
    flow = plain(
        places, "postgres", "postgres", "SELECT id, words, 1 / (ratio - 5) AS ratio FROM odd"
    )
    with pytest.raises(SourceError, match="division by zero"):
        flow.run("load")
    assert places.rows("out", "SELECT count(*) FROM copied") == [(0,)]


@pytest.mark.proves("path-explained")
def test_what_is_more_than_the_limit_goes_through_spark(places):
    execute(places, "sqlite", [ODD])
    flow = plain(places, "sqlite", "duckdb", ALL_OF_IT, EMATIX_FLOW_DIRECT_UP_TO="1 kB")
    plan = flow.plan("load")
    assert plan.path.value == "spark"
    assert plan.path_why.endswith("bytes is more than direct_up_to (1 KiB)")
    forced = plain(
        places, "sqlite", "duckdb", ALL_OF_IT, 'force_path="direct"', EMATIX_FLOW_DIRECT_UP_TO="0"
    )
    assert forced.plan("load").path.value == "direct"


@pytest.mark.proves("path-explained")
def test_an_expression_of_sqlite_is_read_by_spark_unless_its_type_is_told(places):
    execute(places, "sqlite", [ODD])
    query = "SELECT id, upper(words) AS words, ratio FROM odd"
    why = "words is of no type that is known before it is read"
    with pytest.raises(PlanError, match=why):
        plain(places, "sqlite", "duckdb", query, 'force_path="direct"').plan("load")
    told = "SELECT id, CAST(upper(words) AS TEXT) AS words, ratio FROM odd"
    assert plain(places, "sqlite", "duckdb", told).plan("load").path.value == "direct"


NO_SPARK = """
import sys
from ematix_flow.api import Flow
result = Flow.open(".").run("load")
assert (result.path, result.rows.inserted) == ("direct", 2), result
assert not {"pyspark", "py4j"} & set(sys.modules)
"""


def test_such_a_run_loads_no_spark(places):
    execute(places, "sqlite", [ODD, "INSERT INTO odd VALUES (1, 'a', 0.5), (2, NULL, NULL)"])
    plain(places, "sqlite", "duckdb", ALL_OF_IT)
    done = subprocess.run(
        [sys.executable, "-c", NO_SPARK],
        cwd=places.project.path,
        env={**places.environ(), "EMATIX_FLOW_DIRECT_UP_TO": "1 GB"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.proves("preview-dry-run")
def test_a_dry_run_counts_and_leaves_nothing(places):
    execute(places, "sqlite", [ODD, "INSERT INTO odd VALUES (1, 'a', 0.5), (2, NULL, NULL)"])
    flow = plain(places, "sqlite", "duckdb", ALL_OF_IT)
    told = flow.dry_run("load")
    assert (told.path, told.rows.inserted) == ("direct", 2)
    assert not (places.project.path / "out.db").exists()


@pytest.mark.services
def test_the_blanks_of_a_fixed_width_arrive(places):
    execute(places, "postgres", ["CREATE TABLE odd (id bigint, words char(5), ratio float8)"])
    execute(places, "postgres", ["INSERT INTO odd VALUES (1, 'ab', 1)"])
    plain(places, "postgres", "postgres", ALL_OF_IT).run("load")
    assert places.rows("out", "SELECT words FROM copied") == [("ab   ",)]


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_one_file_under_two_names(places, kind):
    execute(places, kind, [ODD, "INSERT INTO odd VALUES (1, 'a', 0.5)"])
    connections = places.declare("db", kind) + places.declare("db", kind).replace("db:", "out:")
    places.project.declare(connections + PLAIN.format(query=ALL_OF_IT, options=""))
    flow = places.project.flow(environ={**places.environ(), "EMATIX_FLOW_DIRECT_UP_TO": "1 GB"})
    result = flow.run("load")
    assert (result.path, result.rows.inserted) == ("direct", 1)


INSTANTS = """
@ematix.table
class Seen:
    id: BigInt
    seen_at: TimestampTZ

@ematix.pipeline(
    target=Seen, mode="append", incremental_column="seen_at", source_connection="db",
    target_connection="out", force_path="direct",
)
def load():
    return "SELECT id, seen_at FROM seen"
"""


@pytest.mark.proves("strictly-after")
@pytest.mark.parametrize("target", KINDS)
def test_an_instant_is_one_in_every_watermark(places, target):
    make = "CREATE TABLE seen (id BIGINT, seen_at TIMESTAMPTZ)"
    execute(places, "duckdb", [make, "INSERT INTO seen VALUES (1, '2026-03-29 01:30:00+00')"])
    places.project.declare(
        places.declare("db", "duckdb") + places.declare("out", target) + INSTANTS
    )
    flow = places.project.flow(environ=places.environ())
    first = flow.run("load")
    assert first.watermark == "timestamptz 2026-03-29 01:30:00.000000"
    execute(places, "duckdb", ["INSERT INTO seen SELECT 2, seen_at + INTERVAL 1 HOUR FROM seen"])
    assert flow.run("load").rows.inserted == 1


@pytest.mark.proves("nothing-half-written")
@pytest.mark.services
@pytest.mark.parametrize("target", ["mysql", "sqlite"])
def test_giving_up_in_the_middle_leaves_nothing_behind(places, target):
    # The reader fetches ahead while the target refuses: four times, for the two may meet anywhere.
    bad = {"mysql": "'Infinity'", "sqlite": "'NaN'"}[target]
    execute(
        places,
        "postgres",
        [
            "CREATE TABLE odd (id bigint, words text, ratio float8)",
            "INSERT INTO odd SELECT n, 'words', n FROM generate_series(1, 300000) AS n",
            f"UPDATE odd SET ratio = {bad} WHERE id = 5",
        ],
    )
    flow = plain(places, "postgres", target, ALL_OF_IT)
    for _ in range(4):
        with pytest.raises(ContractError, match="id=5"):
            flow.run("load")
    assert places.rows("out", "SELECT count(*) FROM copied") == [(0,)]
    left = (
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY %' AND state = 'active' "
        "AND datname = current_database()"
    )
    assert places.rows("db", left) == [(0,)]


INTERRUPTED = """
import signal
import sys
from ematix_flow.cli.root import main
# Whoever started the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["flow", "run", "load"]
main()
"""


@pytest.mark.proves("nothing-half-written")
@pytest.mark.services
@pytest.mark.parametrize("target", ["postgres", "mysql", "duckdb"])
def test_an_interrupt_ends_it_soon(places, target):
    execute(places, "sqlite", [ODD])
    rows = "INSERT INTO odd WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
    execute(places, "sqlite", [f"{rows} WHERE i < 1500000) SELECT i, 'words', 0.5 FROM n"])
    plain(places, "sqlite", target, ALL_OF_IT)
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=places.project.path,
        env={**places.environ(), "EMATIX_FLOW_DIRECT_UP_TO": "1 GB"},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    told = ""
    for line in process.stderr:
        told += line
        if "carry:" in line:
            break
    else:
        raise AssertionError(told)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, told + rest
    assert "commit" not in rest
    assert places.rows("out", "SELECT count(*) FROM copied") == [(0,)]


@pytest.mark.proves("strictly-after")
def test_a_row_without_a_cursor_stops_the_later_loads_too(places):
    make = "CREATE TABLE seen (id BIGINT, seen_at TIMESTAMPTZ)"
    execute(places, "duckdb", [make, "INSERT INTO seen VALUES (1, '2026-03-29 01:30:00+00')"])
    connections = places.declare("db", "duckdb") + places.declare("out", "sqlite")
    places.project.declare(connections + INSTANTS.replace("TimestampTZ", "TimestampTZ | None"))
    flow = places.project.flow(environ=places.environ())
    flow.run("load")
    execute(places, "duckdb", ["INSERT INTO seen VALUES (2, NULL)"])
    with pytest.raises(ContractError, match="seen_at is NULL, so no incremental load"):
        flow.run("load")
