"""Both paths of a load within one database: through Spark, and in the database alone."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import Connection
from ematix_flow.engine.choice import choose
from ematix_flow.engine.host.machine import this_machine
from ematix_flow.engine.opening import open_engine
from ematix_flow.engine.spark.sizing import size
from ematix_flow.errors import ContractError
from ematix_flow.spec.types import BigInt, Date, Text, Timestamp, TimestampTZ
from ematix_flow.sqltext.in_database.order import order_text
from ematix_flow.sqltext.type_names import type_name
from ematix_flow.validate.order_text import order_text as spark_order_text
from tests.backends import test_pairs as pairs
from tests.backends.mode_bench import moment
from tests.backends.places import SERVERS, Places

KINDS = (
    "sqlite",
    "duckdb",
    pytest.param("postgres", marks=pytest.mark.services),
    pytest.param("mysql", marks=pytest.mark.services),
)

TYPES = {
    "sqlite": "BIGINT TEXT VARCHAR(8) NUMERIC(12,2) INT BOOLEAN DATE TIMESTAMP TIMESTAMPTZ REAL",
    "duckdb": "BIGINT TEXT TEXT DECIMAL(10,2) INTEGER BOOLEAN DATE TIMESTAMP TIMESTAMPTZ DOUBLE",
    "postgres": "bigint text varchar(8) numeric(10,2) int bool date timestamp timestamptz float8",
    "mysql": "bigint text varchar(8) decimal(10,2) int boolean date datetime(6) datetime(6) double",
}
NAMES = (
    "id",
    "name",
    "code",
    "amount",
    "n",
    "flag",
    "day",
    "wall",
    "seen",
    "ratio",
    "op",
    "version",
)

TABLE = """
@ematix.table
class {name}:
    id: {key}
    name: {text}
    label: String[8] | None
    amount: Numeric[12, 2] | None
    n: BigInt | None
    flag: Boolean | None
    day: Date | None
    wall: Timestamp | None
    seen: TimestampTZ | None
    ratio: Double | None

@ematix.pipeline(
    target={name}, source_connection="db", target_connection="{place}",
    column_map={{"code": "label"}}, force_path="{path}", {options}
)
def load_{name}():
    return "{query}"
"""
GIVEN = (
    "WITH all_of AS (SELECT * FROM events) "
    "SELECT id, name, code, amount, n, flag, day, wall, seen, ratio{more} FROM all_of -- each"
)
ORDERED = ", op, version"
SCENARIOS = {
    "append": (", version", 'mode="append", incremental_column="version"'),
    "truncate": ("", 'mode="truncate", transforms_pre=[filter_where("n >= 0 OR flag IS NULL")]'),
    "merge": (
        ORDERED,
        """mode="merge", sequence_by="version", apply_as_deletes="op = 'D' AND id <> 0" """,
    ),
    "scd1": ("", 'mode="scd1", handle_deletes="soft", max_delete_fraction=1.0'),
    "scd2_snapshot": ("", 'mode="scd2", handle_deletes="hard", max_delete_fraction=1.0'),
    "scd2_events": (
        ORDERED,
        """mode="scd2", event_timestamp_column="seen", sequence_by="version",
        apply_as_deletes="op = 'D'" """,
    ),
}
# Here a third day comes late.
IN_ORDER = ("merge", "scd2_events")
# The rows of the source, day by day; ~ is NULL.
DAYS = (
    """
  1| ada |a|1.50|1|1|2026-01-01|2026-01-01 10:00:00|2026-01-01 10:00:00|0.5|I|1
  2|grace|~|~|~|~|~|~|2026-01-01 11:00:00|~|I|2
  3||zwölf|-0.01|-5|0|1969-12-31|1899-01-02 03:04:05.678901|2026-01-01 12:00:00.000001|-1.5e300|U|3
    """,
    """
  1|ada|a|1.50|1|1|2026-01-01|2026-01-01 10:00:00|2026-01-05 10:00:00|0.5|I|4
  2|GRACE|B |99999999.99|2147483647|1|9999-12-31|2026-03-29 02:30:00|2026-01-05 11:00:00|5e-324|U|5
  4|new||0.00|0|0|2026-02-28|2026-02-28 23:59:59.999999|2026-01-05 12:00:00|0.1|I|6
  3|~|~|~|~|~|~|~|2026-01-05 13:00:00|~|D|7
    """,
    """
  2|late|b|2.00|7|0|2026-01-03|2026-01-03 00:00:00|2026-01-03 00:00:00|1.0|U|8
  3|back|c|3.00|8|1|2026-01-06|2026-01-06 00:00:00|2026-01-06 00:00:00|2.0|I|9
    """,
)
NUMBERS = ("id", "n", "ratio", "version")


class DayClock:
    """A time that stands still, and moves on by the day."""

    def __init__(self) -> None:
        self.day = datetime(2026, 3, 1, tzinfo=UTC)
        self._ticks = 0.0

    def now(self) -> datetime:
        return self.day

    def monotonic(self) -> float:
        self._ticks += 0.001
        return self._ticks

    def next_day(self) -> None:
        self.day += timedelta(days=1)


def write_day(places: Places, kind: str, day: str, *, first: bool) -> None:
    """Let the source hold exactly the rows of *day*."""
    types = (*TYPES[kind].split(), "varchar(1)", "bigint")
    columns = ", ".join(f"{name} {held}" for name, held in zip(NAMES, types, strict=True))
    statements = [f"CREATE TABLE events ({columns})"] if first else ["DELETE FROM events"]
    for line in filter(None, (each.strip() for each in day.splitlines())):
        named = zip(NAMES, line.split("|"), strict=True)
        values = ", ".join(literal(name, value, kind) for name, value in named)
        statements.append(f"INSERT INTO events VALUES ({values})")
    execute(places, kind, statements)


def literal(name: str, value: str, kind: str) -> str:
    if value == "~":
        return "NULL"
    if name == "flag" and kind != "sqlite":
        return "TRUE" if value == "1" else "FALSE"
    if name == "seen" and kind != "mysql":
        return f"'{value}+00:00'"
    return value if name in (*NUMBERS, "flag") else f"'{value}'"


def execute(places: Places, kind: str, statements: list[str]) -> None:
    places.execute("db", kind, *statements)


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """One session for all of these runs; starting one takes longer than they do."""
    sizing = size(this_machine(), 0, {"spark.sql.shuffle.partitions": "2"})
    state = tmp_path_factory.mktemp("spark-state")
    with open_engine(choose("local", {}, None), sizing=sizing, state_dir=state) as engine:
        yield engine.session


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A pipeline twice, on two paths, over the days of a scenario.

    :param source: The kind of the database `db`.
    :param target: That of *place*, the connection that is written to.
    """

    places: Places
    source: str
    target: str
    place: str
    paths: tuple[str, str]
    scenario: str

    def run(self, spark) -> None:
        """Load each day on both paths, and hold tables and counts against each other."""
        clock = DayClock()
        first, second = (f"by_{path}" for path in self.paths)
        days = DAYS if self.scenario in IN_ORDER else DAYS[:2]
        for number, rows in enumerate(days):
            write_day(self.places, self.source, rows, first=not number)
            flow = self.declared(clock, spark)
            counts = []
            for path in self.paths:
                result = flow.run(f"load_by_{path}")
                assert result.path == path
                counts.append((result.rows, result.watermark))
            assert counts[0] == counts[1]
            assert self.held(first) == self.held(second)
            assert self.ledger(first) == self.ledger(second)
            if self.scenario in IN_ORDER:
                assert self.remembered(first) == self.remembered(second)
            clock.next_day()
        assert self.held(first)
        assert len(self.ledger(first)) == len(days)

    def declared(self, clock: DayClock, spark):
        """The project with both pipelines."""
        more, options = SCENARIOS[self.scenario]
        tables = "".join(
            TABLE.format(
                name=f"by_{path}",
                place=self.place,
                path=path,
                options=options,
                query=GIVEN.format(more=more),
                # No marker is proven there.
                text="Text | None" if self.target == "mysql" else "Annotated[Text | None, trim()]",
                key="BigInt" if 'mode="append"' in options else "Annotated[BigInt, pk()]",
            )
            for path in self.paths
        )
        kinds = {"db": self.source, self.place: self.target}
        connections = "".join(self.places.declare(name, kind) for name, kind in kinds.items())
        self.places.project.declare(connections + tables)
        return self.places.project.flow(environ=self.places.environ(), clock=clock, session=spark)

    def held(self, table: str) -> list[tuple[object, ...]]:
        """What one of the two tables holds."""
        return held(self.places, table, self.place)

    def ledger(self, table: str) -> list[tuple[object, ...]]:
        """What the target remembers of the runs: window, watermark and every count."""
        owners = ("pipeline", "target", "run_id")
        names = columns_of(self.places, "_flow_ledger", self.place)
        listed = ", ".join(name for name in names if name not in owners)
        query = f"SELECT {listed} FROM _flow_ledger WHERE pipeline = 'load_{table}'"
        return self.places.rows(self.place, f"{query} ORDER BY committed_at")

    def remembered(self, table: str) -> list[tuple[object, ...]]:
        """What the companion keeps that the table cannot."""
        found = held(self.places, f"_flow_seq_{table}", self.place)
        assert found
        return found


def at_home(places: Places, kind: str, scenario: str) -> Comparison:
    """Compare the paths of a load within one database."""
    return Comparison(
        places=places,
        source=kind,
        target=kind,
        place="db",
        paths=("in_database", "spark"),
        scenario=scenario,
    )


def held(places: Places, table: str, place: str = "db") -> list[tuple[object, ...]]:
    """All that the table holds, but for what says which run wrote it."""
    found = places.rows(place, f"SELECT * FROM {table}")
    names = columns_of(places, table, place)
    kept = [at for at, name in enumerate(names) if name not in ("_loaded_at", "_batch_id")]
    return sorted((tuple(row[at] for at in kept) for row in found), key=repr)


def columns_of(places: Places, table: str, place: str = "db") -> list[str]:
    if place in places.databases:
        here = "database()" if places.databases[place][0] == "mysql" else "current_schema()"
        sql = (
            "SELECT column_name FROM information_schema.columns "
            f"WHERE table_schema = {here} AND table_name = '{table}' ORDER BY ordinal_position"
        )
    else:
        sql = f"SELECT name FROM pragma_table_info('{table}') ORDER BY cid"
    return [str(name) for (name,) in places.rows(place, sql)]


@pytest.mark.proves("paths-agree")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_both_paths_give_the_same_table(places, spark, kind, scenario):
    at_home(places, kind, scenario).run(spark)


TIED = """
@ematix.table
class by_{path}:
    id: Annotated[BigInt, pk()]
    amount: Numeric[12, 2] | None

@ematix.pipeline(
    target=by_{path}, mode="merge", sequence_by="version", source_connection="db",
    target_connection="db", force_path="{path}",
)
def load_by_{path}():
    return "SELECT id, amount, version FROM given"
"""


@pytest.mark.proves("paths-agree", "equal-sequences")
@pytest.mark.parametrize("kind", KINDS)
def test_equals_are_decided_alike(places, spark, kind):
    amount = TYPES[kind].split()[3]
    rows = ", ".join(f"({n}, {n}.50, 1), ({n}, {n}.20, 1)" for n in range(20))
    create = f"CREATE TABLE given (id BIGINT, amount {amount}, version BIGINT)"
    execute(places, kind, [create, f"INSERT INTO given VALUES {rows}"])
    paths = ("in_database", "spark")
    tables = "".join(TIED.format(path=path) for path in paths)
    places.project.declare(places.declare("db", kind) + tables)
    flow = places.project.flow(environ=places.environ(), session=spark)
    assert [flow.run(f"load_by_{path}").path for path in paths] == [*paths]
    assert held(places, "by_in_database") == held(places, "by_spark")
    assert held(places, "_flow_seq_by_in_database") == held(places, "_flow_seq_by_spark")


BAD = """
@ematix.table
class Checked:
    id: Annotated[BigInt, pk()]
    small: SmallInt | None
    code: String[3]

@ematix.pipeline(
    target=Checked, mode="merge", sequence_by="version", apply_as_deletes="gone",
    source_connection="db", target_connection="db", force_path="{path}",
)
def load():
    return "SELECT id, small, code, version, gone FROM given"
"""
TEXT_OF = {"sqlite": "TEXT", "duckdb": "VARCHAR", "postgres": "text", "mysql": "text"}
# The third row deletes its key, and may be without all else.
GIVEN_ROWS = (
    "(1, 1, 'abc', 1, {f})",
    "(2, 40000, 'abc', 2, {f})",
    "(3, 1, NULL, 3, {t})",
    "(4, 1, 'zwölf', 4, {f})",
    "(5, 1, NULL, 5, {f})",
    "(6, 1, 'abc', NULL, {f})",
    "(NULL, 1, 'abc', 7, {t})",
)


@pytest.mark.proves("paths-agree", "values-refused", "null-in-not-null")
@pytest.mark.parametrize("kind", KINDS)
def test_both_paths_refuse_the_same_rows_in_the_same_words(places, spark, kind):
    truths = {"t": 1, "f": 0} if kind == "sqlite" else {"t": "TRUE", "f": "FALSE"}
    rows = ", ".join(GIVEN_ROWS).format(**truths)
    columns = f"id BIGINT, small INTEGER, code {TEXT_OF[kind]}, version BIGINT, gone BOOLEAN"
    execute(places, kind, [f"CREATE TABLE given ({columns})", f"INSERT INTO given VALUES {rows}"])
    told = []
    for path in ("in_database", "spark"):
        places.project.declare(places.declare("db", kind) + BAD.format(path=path))
        flow = places.project.flow(environ=places.environ(), session=spark)
        with pytest.raises(ContractError) as caught:
            flow.run("load")
        error = caught.value
        assert error.details is not None
        told.append((error.what, sorted(error.details.splitlines()), error.hint))
        assert_nothing_written(places, "db")
    assert told[0][:2] == told[1][:2]
    assert told[0][0].startswith("5 of 7 rows break the declaration of checked")
    assert told[0][1] == [
        "  row id=2: small: '40000' does not fit SmallInt without loss",
        "  row id=4: code: 'zwölf' is longer than String[3]",
        "  row id=5: code is NULL, but declared NOT NULL",
        "  row id=6: version is NULL, so the row has no place in the order",
        "  row id=NULL: id is NULL, but declared NOT NULL",
    ]


def assert_nothing_written(places: Places, place: str) -> None:
    """Neither rows, nor what is remembered of them, nor a line that says so."""
    for table in ("checked", "_flow_seq_checked", "_flow_ledger"):
        assert places.rows(place, f"SELECT count(*) FROM {table}") == [(0,)], table


NO_SPARK = """
import sys
from ematix_flow.api import Flow
result = Flow.open(".").run("load_by_in_database")
assert (result.path, result.rows.inserted) == ("in_database", 3), result
assert "pyspark" not in sys.modules
assert "py4j" not in sys.modules
"""


def test_a_run_in_the_database_loads_no_spark(places):
    write_day(places, "duckdb", DAYS[0], first=True)
    at_home(places, "duckdb", "scd2_events").declared(DayClock(), None)
    done = subprocess.run(
        [sys.executable, "-c", NO_SPARK],
        cwd=places.project.path,
        env=places.environ(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


TEXTS = ("", "a", "A", "zwölf", "a\tb", "'\\", "\U0001f600", "~", "a" * 300)
WHOLE = (0, 1, -1, 9, 10, -(2**63), 2**63 - 1, 10**18)
MOMENTS = tuple(
    datetime(*parts)
    for parts in (
        *(
            (1, 1, 1),
            (999, 12, 31, 23, 59, 59, 999999),
            (1582, 10, 10),
            (1969, 12, 31, 23, 0, 0, 1),
        ),
        *((1970, 1, 1), (2026, 3, 29, 2, 30, 0, 120000), (9999, 12, 31, 23, 59, 59, 999999)),
    )
)
ORDERED_VALUES = {
    BigInt(): WHOLE,
    Date(): tuple(each.date() for each in MOMENTS),
    Timestamp(): MOMENTS,
    TimestampTZ(): tuple(each.replace(tzinfo=UTC) for each in MOMENTS),
    Text(): TEXTS,
}


@pytest.mark.proves("paths-agree")
@pytest.mark.parametrize("kind", KINDS)
def test_order_is_the_same_text_in_the_database_and_on_spark(config_of, spark, kind):
    target = config_of(kind)
    for declared_type, values in ORDERED_VALUES.items():
        frame = spark.createDataFrame(
            [(value,) for value in values], f"v {type_name(declared_type, 'spark')}"
        )
        expected = frame.select(spark_order_text(frame["v"], frame.schema["v"].dataType))
        with target.open() as session:
            found = [
                session.fetch(
                    "SELECT "
                    + order_text(_constant(value, kind), declared_type, "v", target.dialect)
                )[0][0]
                for value in values
            ]
        assert found == [text for (text,) in expected.collect()], declared_type
        assert found == sorted(found) or declared_type in (BigInt(), Text())


def _constant(value: object, kind: str) -> str:
    text = str(value).replace("'", "''")
    match value:
        case int():
            return f"({value})" if kind in ("sqlite", "mysql") else f"CAST('{value}' AS BIGINT)"
        case str():
            text = text.replace("\\", "\\\\") if kind == "mysql" else text
            return f"'{text}'" if kind in ("sqlite", "mysql") else f"CAST('{text}' AS TEXT)"
        case datetime():
            plain = value.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
            if kind == "sqlite":
                return f"'{plain}{'Z' if value.tzinfo else ''}'"
            if kind == "mysql":
                return f"CAST('{plain}' AS DATETIME(6))"
            if value.tzinfo:
                return f"CAST('{plain}+00' AS TIMESTAMPTZ)"
            return f"CAST('{plain}' AS TIMESTAMP)"
        case _:
            return f"'{value}'" if kind == "sqlite" else f"CAST('{value}' AS DATE)"


@pytest.fixture
def config_of(request, tmp_path):
    """The target of an empty database of a kind."""

    def target(kind):
        config = {"kind": kind, "path": "out.db"}
        if kind in SERVERS:
            config = request.getfixturevalue(f"{kind}_config")
        connection = Connection.from_config("out", config, base=tmp_path)
        return backends()[connection.kind].target(connection)

    return target


TOTALS = """
@ematix.table
class by_{path}:
    op: Annotated[String[1], pk()]
    rows: BigInt
    total: BigInt | None
    money: Numeric[12, 2] | None

@ematix.pipeline(
    target=by_{path}, mode="truncate", source_connection="db", target_connection="db",
    force_path="{path}",
)
def load_by_{path}():
    return {query!r}
"""
SUMMED = (
    "SELECT op, count(*) AS rows, sum(n) AS total, sum(amount) AS money FROM events GROUP BY op"
)


@pytest.mark.proves("paths-agree")
@pytest.mark.parametrize("kind", KINDS[1:])
def test_sums_are_wider_than_what_they_go_into(places, spark, kind):
    write_day(places, kind, DAYS[1], first=True)
    query = SUMMED.replace("rows", "`rows`") if kind == "mysql" else SUMMED
    paths = ("in_database", "spark")
    tables = "".join(TOTALS.format(path=path, query=query) for path in paths)
    places.project.declare(places.declare("db", kind) + tables)
    flow = places.project.flow(environ=places.environ(), session=spark)
    assert [flow.run(f"load_by_{path}").rows.inserted for path in paths] == [3, 3]
    assert held(places, "by_in_database") == held(places, "by_spark")
    assert len(held(places, "by_spark")) == 3


# What goes through Spark: text that has to be read, and numbers that are others once read.
NOT_COPIED = {
    "sqlite": {"single", "doc", "doc_b", "uid"},
    "duckdb": {"doc", "doc_b", "uid"},
    "postgres": {"doc"},
    "mysql": {"single", "doc", "doc_b", "uid"},
}


COPY = """
@ematix.table
class by_{path}:
{columns}

@ematix.pipeline(
    target=by_{path}, mode="merge", source_connection="src", target_connection="src",
    force_path="{path}",
)
def load_by_{path}():
    return "SELECT {listed} FROM everything"
"""


@pytest.mark.proves("paths-agree")
@pytest.mark.parametrize("kind", KINDS)
def test_the_limits_of_every_type_stay_what_they_are(places, spark, kind):
    pairs.write_source(places, kind)
    names = [name for name in pairs.NAMES if name not in NOT_COPIED[kind]]
    columns = [
        line for line in pairs.PROJECT.splitlines() if line.partition(":")[0].strip() in names
    ]
    quote = "`" if kind == "mysql" else ""
    listed = ", ".join(f"{quote}{name}{quote}" for name in names)
    paths = ("in_database", "spark")
    tables = "".join(
        COPY.format(path=path, columns="\n".join(columns), listed=listed) for path in paths
    )
    places.project.declare(places.declare("src", kind) + tables)
    flow = places.project.flow(environ=places.environ(), session=spark)
    assert [flow.run(f"load_by_{path}").rows.inserted for path in paths] == [3, 3]
    as_text = kind == "postgres"  # what a client makes of JSON is not our business
    shown = ", ".join(f"CAST({n} AS text)" for n in names) if as_text else listed
    found = [places.rows("src", f"SELECT {shown} FROM by_{path} ORDER BY id") for path in paths]
    assert found[0] == found[1]
    assert len(found[0]) == 3


ARRIVED = """
@ematix.table
class Arrived:
    id: Annotated[BigInt, pk()]
    label: Text | None

@ematix.pipeline(
    target=Arrived, mode="merge", source_connection="db", target_connection="{place}",
    force_path="{path}", column_map={{"code": "label"}},
    transforms_pre=[filter_where("id <> 2")],
    transforms_post=["INSERT INTO told SELECT count(*), max(label) FROM arrived"],
)
def load():
    return "SELECT id, code FROM given"
"""
# Each path, and where it leads: the path through this process needs two databases.
PLACES = {"in_database": "db", "spark": "db", "direct": "out"}


@pytest.mark.proves("column-map", "merge-changes")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", PLACES)
def test_rows_arrive_under_the_targets_names_with_their_run_and_time(places, spark, kind, path):
    place, clock = PLACES[path], DayClock()
    create = f"CREATE TABLE given (id BIGINT, code {TEXT_OF[kind]})"
    rows = "INSERT INTO given VALUES (1, 'a'), (2, 'left out'), (3, NULL), (4, 'd')"
    execute(places, kind, [create, rows])
    places.execute(place, kind, f"CREATE TABLE told (n BIGINT, label {TEXT_OF[kind]})")
    connections = "".join(places.declare(name, kind) for name in dict.fromkeys(("db", place)))
    places.project.declare(connections + ARRIVED.format(place=place, path=path))
    flow = places.project.flow(environ=places.environ(), clock=clock, session=spark)
    first, began = flow.run("load"), clock.day
    assert first.path == path
    clock.next_day()
    execute(places, kind, ["UPDATE given SET code = 'c' WHERE id = 3"])
    second = flow.run("load")
    stored = places.rows(place, "SELECT id, label, _batch_id, _loaded_at FROM arrived ORDER BY id")
    assert [(*row[:3], moment(row[3])) for row in stored] == [
        (1, "a", first.run_id, began),
        (3, "c", second.run_id, clock.day),
        (4, "d", first.run_id, began),
    ]
    assert places.rows(place, "SELECT n, label FROM told") == [(3, "d"), (3, "d")]


PREVIEWED = """
@ematix.table
class Seen:
    id: Annotated[BigInt, pk()]
    name: Text

@ematix.pipeline(
    target=Seen, mode="merge", sequence_by="version", source_connection="db",
    target_connection="{place}",
)
def load():
    return "SELECT id, name, version FROM given"
"""


@pytest.mark.proves("preview-dry-run")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["db", "out"])
def test_a_preview_leaves_no_trace(places, spark, kind, place):
    create = f"CREATE TABLE given (id BIGINT, name {TEXT_OF[kind]}, version BIGINT)"
    execute(places, kind, [create, "INSERT INTO given VALUES (1, 'ada', 1), (2, NULL, 1)"])
    connections = "".join(places.declare(name, kind) for name in dict.fromkeys(("db", place)))
    places.project.declare(connections + PREVIEWED.format(place=place))
    environ = {**places.environ(), "EMATIX_FLOW_DIRECT_UP_TO": "1 GB"}
    flow = places.project.flow(environ=environ, session=spark)
    before = places.everything(place, kind)
    shown = flow.preview("load")
    assert sorted(zip(shown.rows, shown.problems, strict=True), key=repr) == [
        ((1, "ada"), None),
        ((2, None), "name is NULL, but declared NOT NULL"),
    ]
    assert places.everything(place, kind) == before
    assert (places.project.path / "out.db").exists() is False
    execute(places, kind, ["UPDATE given SET name = 'bob' WHERE id = 2"])
    assert flow.run("load").path == ("in_database" if place == "db" else "direct")
    execute(places, kind, ["UPDATE given SET name = 'eve', version = 2"])
    before, runs = places.everything(place, kind), flow.runs()
    assert {"_flow_ledger", "_flow_fence", "_flow_seq_seen", "seen"} <= before.keys()
    assert {row[1] for row in flow.preview("load").rows} == {"eve"}
    assert places.everything(place, kind) == before
    assert flow.runs() == runs
