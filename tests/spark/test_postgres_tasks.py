"""Spark's tasks read from PostgreSQL and write into it themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.postgres import ranges
from ematix_flow.backends.impl.postgres.read import PostgresReader
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.write import PostgresTarget
from ematix_flow.connections.model import PostgresConnection
from ematix_flow.engine.spark.errors import translating
from ematix_flow.errors import ContractError, SourceError
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import BigInt, Date, Numeric, Text, Timestamp, TimestampTZ
from ematix_flow.validate.contract import judge
from ematix_flow.write.staging import require_clean, stage
from ematix_flow.write.staging_table import staging_table
from tests.services.postgres import client
from tests.spark.engine.scripts import play

pytestmark = pytest.mark.services

KINDS = {
    "id": BigInt(),
    "name": Text(),
    "amount": Numeric(12, 2),
    "day": Date(),
    "at": Timestamp(),
    "seen": TimestampTZ(),
}
TABLE = Table(
    name=TableName(name="t"),
    location=Location("x.py", 1),
    columns=tuple(
        Column(name=name, type=kind, primary_key=name == "id", nullable=name != "id")
        for name, kind in KINDS.items()
    ),
)
# Days that a JVM's old calendar does not know, and the last there are.
SOURCE = """
CREATE TABLE src AS SELECT CAST(i AS bigint) AS id, 'zwölf €' || i AS name,
  CAST(i AS numeric(12, 2)) / 4 AS amount, date '0001-01-01' + i AS day,
  timestamp '1582-10-04 00:00' + i * interval '1 hour 1 microsecond' AS at,
  timestamptz '9999-12-31 00:00+00' - i * interval '1 day 1 second' AS seen
FROM generate_series(1, 20000) i
"""
ALL = [(20000, 200010000)]


@pytest.fixture
def server(postgres_database, monkeypatch) -> Server:
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    # Small enough to be quick, and still cut into as many parts as the session has.
    monkeypatch.setattr(ranges, "_SMALLEST_BYTES", 8192)
    return server_of(postgres_database.dsn)


def server_of(dsn: str) -> Server:
    return Server.of(PostgresConnection.from_config("pg", {"kind": "postgres", "url": dsn}))


def sql(server: Server, *statements: str) -> list[tuple[object, ...]]:
    with client().connect(server.dsn, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def in_tasks(spark, server: Server, query: str, scratch) -> Iterator[object]:
    with ExitStack() as held:
        yield PostgresReader(server).read_in_tasks(spark, query, scratch, held)


@pytest.mark.proves("types-survive")
def test_tasks_read_and_write_each_row_once_and_exactly(spark, server, tmp_path):
    sql(server, SOURCE)
    target = PostgresTarget(server)
    contract = Contract.of(TABLE)
    with (
        in_tasks(spark, server, "SELECT * FROM src", tmp_path) as frame,
        staging_table(target, TABLE, pipeline="p", name=TABLE.name, run_id="r") as table,
    ):
        assert not (tmp_path / "source.parquet").exists()
        staged = stage(judge(frame, contract), tmp_path, contract, counted=True, table=table)
        require_clean(staged, contract)
        assert (staged.rows, len(staged.tasks)) == (20000, 2)
        with target.open() as session:
            session.show_staging(staged, TABLE, "_flow_staging")
            differs = "SELECT * FROM {} EXCEPT ALL SELECT * FROM {}"
            assert session.fetch(differs.format("src", "_flow_staging")) == []
            assert session.fetch(differs.format("_flow_staging", "src")) == []
    assert sql(server, "SELECT relname FROM pg_class WHERE relname LIKE '\\_flow\\_staging%'") == []


BAD_VALUES = [
    ("CAST(NULL AS BIGINT)", "0.5", "row id=NULL: id is NULL, but declared NOT NULL"),
    ("CAST(7 AS BIGINT)", "1e12", "row id=7: amount: '1.0E12' does not fit Numeric"),
    ("CAST(8 AS BIGINT)", "0.125", "row id=8: amount: '0.125' does not fit Numeric"),
    ("CAST(9 AS BIGINT)", "'NaN'", "row id=9: amount: 'NaN' does not fit Numeric"),
    ("CAST(10 AS BIGINT)", "'-Infinity'", "row id=10: amount: '-Infinity' does not fit Numeric"),
]


@pytest.mark.proves("values-refused")
def test_rows_that_no_column_holds_are_named_and_nothing_is_written(spark, server, tmp_path):
    columns = TABLE.columns[0], TABLE.columns[2]
    table = Table(name=TABLE.name, location=TABLE.location, columns=columns)
    contract, target = Contract.of(table, "postgres"), PostgresTarget(server)
    good = "SELECT CAST(1 AS BIGINT) AS id, CAST(0.25 AS DOUBLE) AS amount"
    bad = [f"SELECT {key}, CAST({value} AS DOUBLE)" for key, value, _ in BAD_VALUES]
    frame = judge(spark.sql(" UNION ALL ".join([good, *bad])), contract)
    with (
        staging_table(target, table, pipeline="p", name=table.name, run_id="r") as into,
        pytest.raises(ContractError) as caught,
    ):
        require_clean(stage(frame, tmp_path, contract, counted=True, table=into), contract)
    assert "5 of 6 rows break the declaration of t; nothing was written" in str(caught.value)
    for *_, words in BAD_VALUES:
        assert words in str(caught.value)
    assert not caught.value.retryable


FAILS_ONCE = """
from tests.spark.failing_loader import FailsOnce
from tests.spark.test_postgres_tasks import *

class Failing:
    def __init__(self, table):
        self.name, self.table = table.name, table
    def loader(self):
        return FailsOnce(self.table.loader(), STATE)

server = server_of(os.environ["DSN"])
target = PostgresTarget(server)
table = Table(name=TableName(name="t"), location=Location("x.py", 1),
              columns=(Column(name="id", type=BigInt(), primary_key=True),))
contract = Contract.of(table)
STATE.mkdir(exist_ok=True)
# As on a cluster, a task has four attempts; our own local engine gives each one.
from pyspark.sql import SparkSession
os.environ["PYSPARK_PYTHON"] = sys.executable
quiet = {"spark.ui.enabled": "false"}
session = SparkSession.builder.master("local[2,4]").config(map=quiet).getOrCreate()
session.sparkContext.setLogLevel("OFF")
with staging_table(target, table, pipeline="p", name=table.name, run_id="r") as into:
    frame = judge(session.range(0, 1000, 1, 2), contract)
    staged = stage(frame, STATE, contract, counted=True, table=Failing(into))
    seen["staged"] = staged.rows
    seen["left"] = sql(server, f'SELECT count(*) FROM "{into.name}"')
    with target.open() as opened:
        opened.show_staging(staged, table, "_flow_staging")
        seen["shown"] = opened.fetch('SELECT count(*), count(DISTINCT id) FROM "_flow_staging"')
session.stop()
"""


@pytest.mark.proves("attempts-once")
def test_a_task_that_dies_after_its_copy_neither_doubles_nor_loses_a_row(
    postgres_database, tmp_path
):
    scene = play(
        FAILS_ONCE,
        tmp_path / "state",
        DSN=postgres_database.dsn,
        EMATIX_FLOW_ALLOW_INLINE_SECRETS="1",
    )
    assert scene.seen["left"] == [[2000]]
    assert scene.seen["staged"] == 1000
    assert scene.seen["shown"] == [[1000, 1000]]


def test_all_parts_see_the_table_as_it_was_however_late_they_read(spark, server, tmp_path):
    sql(server, SOURCE)
    query = "SELECT id FROM src"
    with in_tasks(spark, server, query, tmp_path) as frame:
        total = frame.selectExpr("count(*)", "sum(id)")
        sql(server, "UPDATE src SET id = -id WHERE id % 2 = 0", "DELETE FROM src WHERE id % 3 = 0")
        sql(server, "INSERT INTO src SELECT * FROM src", "VACUUM src")
        assert [tuple(row) for row in total.collect()] == ALL
        # Whatever would move its rows to other pages has to wait.
        with pytest.raises(client().errors.LockNotAvailable):
            sql(server, "SET lock_timeout = '50ms'", "VACUUM FULL src")
        assert [tuple(row) for row in total.collect()] == ALL
    sql(server, "VACUUM FULL src")


def test_a_snapshot_that_is_gone_is_an_error_not_a_shorter_answer(spark, server, tmp_path):
    sql(server, SOURCE)
    with in_tasks(spark, server, "SELECT id FROM src", tmp_path) as frame:
        pass
    with pytest.raises(SourceError, match="snapshot"), translating():
        frame.collect()


@pytest.mark.proves("no-secret")
def test_no_plan_and_no_error_shows_the_password(spark, server, tmp_path):
    sql(
        server,
        SOURCE,
        "CREATE VIEW bad AS SELECT 1",
        "UPDATE src SET day = 'infinity' WHERE id = 5",
    )
    password = server.dsn.split(":")[2].partition("@")[0]
    assert len(password) > 8
    with in_tasks(spark, server, "SELECT id, day FROM src", tmp_path) as frame:
        plan = frame._jdf.queryExecution().toString()
        assert "read_range" in plan
        assert password not in plan
        with pytest.raises(Exception, match="holds infinity") as caught:
            frame.collect()
        assert password not in str(caught.value)
        with pytest.raises(SourceError, match="column 'day' holds infinity"), translating():
            frame.collect()


CUT = [
    "SELECT id, name FROM src",
    "select s.id, 'where' || name FROM public.src AS s where s.id > 5 or s.id < 3 -- all of them",
    'SELECT "src".* FROM "src" ORDER BY id DESC;',
    "SELECT id FROM src /* a */ WHERE name LIKE '%)1%' OR id > 0 -- b\n ORDER BY id",
    "SELECT * FROM parted",
]
WHOLE = [
    "SELECT count(*) AS n FROM src",
    "SELECT DISTINCT amount FROM src",
    "SELECT id FROM src LIMIT 10",
    "SELECT id FROM src UNION ALL SELECT id FROM src",
    "SELECT a.id FROM src a JOIN src b ON a.id = b.id",
    "SELECT a.id FROM src a, src b WHERE a.id = b.id",
    "SELECT row_number() OVER (ORDER BY id) AS n FROM src",
    "SELECT generate_series(1, 2) AS n FROM src",
    "SELECT own_sum(id) AS n FROM src",
    "SELECT id FROM src GROUP BY id",
    "WITH c AS (SELECT id FROM src) SELECT id FROM c",
    "SELECT id FROM (SELECT id FROM src) c",
    "SELECT id FROM seen_through",
    "SELECT n FROM generate_series(1, 9) AS n",
    "SELECT id FROM src TABLESAMPLE SYSTEM (10)",
    "SELECT id FROM src WHERE id = 17",
    "SELECT id FROM ONLY src",
    "SELECT 1 AS one",
]


@pytest.fixture
def much(server) -> Server:
    sql(
        server,
        SOURCE,
        "CREATE UNIQUE INDEX ON src (id)",
        "ANALYZE src",
        "CREATE VIEW seen_through AS SELECT * FROM src",
        "CREATE AGGREGATE own_sum (bigint) (SFUNC = int8pl, STYPE = bigint)",
        "CREATE TABLE parted (id bigint, name text) PARTITION BY RANGE (id)",
        "CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (15000)",
        "CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (15000) TO (20001)",
        "INSERT INTO parted SELECT id, name FROM src",
    )
    return server


def cut(server: Server, query: str) -> ranges.RangedQuery | None:
    with PostgresTarget(server).open_read_only() as session:
        return ranges.ranged(session.database, query, 7)


def test_a_query_over_one_table_is_cut_into_parts_that_make_the_whole(much):
    for query in CUT:
        parts = cut(much, query)
        assert parts is not None, query
        assert len(parts.ranges) == 7
        found = [row for pages in parts.ranges for row in sql(much, parts.within(pages))]
        assert sorted(found) == sorted(sql(much, query)), query
        biggest = max(len(sql(much, parts.within(pages))) for pages in parts.ranges)
        assert biggest < len(found) / 3, query


def test_a_query_that_does_more_than_scan_is_left_whole(much):
    for query in WHOLE:
        assert cut(much, query) is None, query


def test_a_small_table_and_a_foreign_users_are_read_in_one_go(spark, much, tmp_path, monkeypatch):
    login = much.dsn.partition("@")[2]
    sql(much, "CREATE ROLE column_reader LOGIN PASSWORD 'only-columns'")
    try:
        sql(much, "GRANT SELECT (id) ON src TO column_reader")
        poor = server_of(f"postgresql://column_reader:only-columns@{login}")
        with in_tasks(spark, poor, "SELECT id FROM src", tmp_path / "1") as frame:
            assert (tmp_path / "1" / "source.parquet").exists()
            assert [tuple(row) for row in frame.selectExpr("count(*)", "sum(id)").collect()] == ALL
    finally:
        sql(much, "DROP OWNED BY column_reader", "DROP ROLE column_reader")
    monkeypatch.undo()
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    with in_tasks(spark, much, "SELECT id FROM src", tmp_path / "2"):
        assert (tmp_path / "2" / "source.parquet").exists()


EMPTIED = """
@ematix.table
class Kept:
    id: BigInt

@ematix.pipeline(target=Kept, source_connection="landing", target_connection="warehouse",
                 force_path="spark",
                 transforms_post=["SET LOCAL lock_timeout = '2s'; TRUNCATE src"])
def load():
    return "SELECT id FROM src"
"""


def test_what_was_read_in_parts_can_be_emptied_after_the_load(spark, server, project):
    sql(server, SOURCE)
    project.declare(EMPTIED)
    dsn = {f"EMATIX_FLOW_DSN_{name}": server.dsn for name in ("LANDING", "WAREHOUSE")}
    done = project.flow(session=spark, environ=dsn).run("load")
    assert (done.path, done.rows.inserted) == ("spark", 20000)
    assert sql(server, "SELECT count(*) FROM src") == [(0,)]
