"""MySQL and MariaDB on their own: what they carry, refuse and say. Real servers, no JVM.

MariaDB gets everything; genuine MySQL what is marked with `both`: reading, and each form of
statement.
"""

from __future__ import annotations

import pickle
import socket
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.mysql.parameters import as_percent_s
from ematix_flow.backends.impl.mysql.read import MySQLReader
from ematix_flow.backends.impl.mysql.server import Server
from ematix_flow.backends.impl.mysql.write import MySQLTarget
from ematix_flow.connections.model import MySQLConnection
from ematix_flow.errors import (
    ContractError,
    DatabaseBusy,
    DriftError,
    NotSupported,
    QueryError,
    SourceError,
    SourceMissing,
    SourceUnreachable,
    StagingLost,
    TargetError,
)
from ematix_flow.plan.collations import other_collations, refuse_incomparable_keys
from ematix_flow.plan.diff import compare
from ematix_flow.ports import StagedFiles, StagedTable
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    JSON,
    JSONB,
    UUID,
    Array,
    BigInt,
    Boolean,
    Bytes,
    Date,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    String,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.sqltext.type_table import COLLATIONS
from tests.services.mysql_family import connect
from tests.services.polling import until

pytestmark = pytest.mark.services

LAST = datetime(9999, 12, 31, 23, 59, 59, 999999)
UID = "0b9f6d3e-6a55-4a0e-8a51-4bb2f7f9e111"
both = pytest.mark.parametrize("flavour", ["mariadb", "mysql"])


@pytest.fixture
def flavour():
    """Which server; `both` asks for each."""
    return "mariadb"


@pytest.fixture
def database(flavour, request):
    return request.getfixturevalue(f"{flavour}_database")


@pytest.fixture
def server(database) -> Server:
    return server_of(database)


def server_of(found, /, **other) -> Server:
    running = found.server
    given = {
        "host": running.host,
        "port": running.port,
        "database": found.name,
        "user": running.facts["user"],
        "password": running.facts["password"],
        **other,
    }
    return Server.of(MySQLConnection(**given))


@pytest.fixture(autouse=True)
def _passwords_may_be_written_out(monkeypatch):
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")


@pytest.fixture
def ask(database):
    """Ask with a driver's own session, not ours."""
    with closing(connect(database.server, database=database.name, autocommit=True)) as connection:

        def run(sql, *parameters):
            with connection.cursor() as cursor:
                cursor.execute(sql, parameters)
                return cursor.fetchall()

        yield run


@pytest.fixture
def read(server, tmp_path):
    """Spool a query."""

    def run(query):
        return pq.read_table(MySQLReader(server).spool(query, tmp_path / "scratch"))

    return run


def table(*columns, name="t", **more):
    return Table(name=TableName(name=name), columns=columns, location=Location("x.py", 1), **more)


EVERY_KIND = table(
    Column(name="id", type=BigInt(), primary_key=True),
    Column(name="small", type=SmallInt(), nullable=True),
    Column(name="whole", type=Integer(), nullable=True),
    Column(name="single", type=Float(), nullable=True),
    Column(name="double", type=Double(), nullable=True),
    Column(name="flag", type=Boolean(), nullable=True),
    Column(name="words", type=Text(), nullable=True),
    Column(name="short", type=String(20), nullable=True),
    Column(name="amount", type=Numeric(38, 10), nullable=True),
    Column(name="day", type=Date(), nullable=True),
    Column(name="wall", type=Timestamp(), nullable=True),
    Column(name="instant", type=TimestampTZ(), nullable=True),
    Column(name="json", type=JSON(), nullable=True),
    Column(name="jsonb", type=JSONB(), nullable=True),
    Column(name="uid", type=UUID(), nullable=True),
    Column(name="raw", type=Bytes(), nullable=True),
    Column(name="list", type=Array(Text()), nullable=True),
    merge_keys=("id",),
)
ROW = {
    "id": 1,
    "small": -32768,
    "whole": 2**31 - 1,
    "single": 0.10000000149011612,
    "double": 0.1 + 0.2,
    "flag": True,
    "words": "größer 🙂\ttab\nline\\N \\ 'quote' \0 end ",
    "short": "a ",
    "amount": Decimal("1234567890123456789012345678.0123456789"),
    "day": date(1, 1, 1),
    "wall": LAST,
    "instant": datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=UTC),
    "json": '{"b": 1.0, "a": 12345678901234567890123}',
    "jsonb": '{"a": 1}',
    "uid": UID,
    "raw": b"\x00\xff\\N\t\n",
    "list": '["a"]',
}
EMPTY = dict.fromkeys(ROW) | {"id": 2}
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("small", pa.int16()),
        ("whole", pa.int32()),
        ("single", pa.float32()),
        ("double", pa.float64()),
        ("flag", pa.bool_()),
        ("words", pa.string()),
        ("short", pa.string()),
        ("amount", pa.decimal128(38, 10)),
        ("day", pa.date32()),
        ("wall", pa.timestamp("us")),
        ("instant", pa.timestamp("us", tz="UTC")),
        *((name, pa.string()) for name in ("json", "jsonb", "uid")),
        ("raw", pa.binary()),
        ("list", pa.string()),
    ]
)


def staged(tmp_path, rows, schema=SCHEMA, name="staged.parquet"):
    path = tmp_path / name
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    return StagedFiles(files=(path,), rows=len(rows))


def written(server, declared, rows, relation="_flow_staging_x"):
    """Create the table and insert the staged rows, as a commit does."""
    target = MySQLTarget(server)
    names = ", ".join(f"`{name}`" for name in declared.column_names)
    with target.open() as session:
        session.execute(create_table(declared, declared.name, target.dialect))
        session.show_staging(rows, declared, relation)
        with session.transaction():
            insert = f"INSERT INTO `{declared.name}` ({names}) SELECT {names} FROM `{relation}`"
            return session.execute(insert)


# Parameters


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT ?", "SELECT %s"),
        ("SELECT '?', `a?`, 5 % 2 WHERE a LIKE '%' AND b = ?", None),
        ("SELECT 1 -- ?\n, ?", "SELECT 1 -- ?\n, %s"),
    ],
)
def test_parameters_are_found_where_they_are(sql, expected):
    wanted = expected or "SELECT '?', `a?`, 5 %% 2 WHERE a LIKE '%%' AND b = %s"
    assert as_percent_s(sql) == wanted


# Both ways


@pytest.mark.proves("types-survive")
@both
@pytest.mark.parametrize("local_infile", [True, False])
def test_every_type_is_written_and_read_back_as_it_was(database, tmp_path, local_infile):
    server = server_of(database, local_infile=local_infile)
    assert written(server, EVERY_KIND, staged(tmp_path, [ROW, EMPTY])) == 2
    back = pq.read_table(MySQLReader(server).spool("SELECT * FROM t ORDER BY id", tmp_path))
    expected = [
        # Held as DOUBLE; DATETIME in UTC, which it does not say.
        ROW | {"instant": ROW["instant"].replace(tzinfo=None)},
        EMPTY,
    ]
    got = back.to_pylist()
    got[0]["jsonb"] = got[0]["jsonb"].replace(" ", "").replace(":", ": ")
    assert got == expected
    assert back.schema.field("amount").type == pa.decimal128(38, 10)
    assert back.schema.field("flag").type == pa.bool_()


numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
moments = st.datetimes(datetime(1, 1, 1), LAST)
decimals = st.decimals(
    min_value=-(10**27), max_value=10**27, places=10, allow_nan=False, allow_infinity=False
)


@pytest.mark.proves("types-survive")
@both
@pytest.mark.parametrize("local_infile", [True, False])
def test_no_value_changes_on_the_way(database, ask, tmp_path, local_infile):
    server = server_of(database, local_infile=local_infile)
    declared = replace(
        EVERY_KIND,
        columns=tuple(
            each
            for each in EVERY_KIND.columns
            if each.name in ("id", "double", "words", "amount", "day", "wall", "raw")
        ),
    )
    schema = pa.schema([SCHEMA.field(name) for name in declared.column_names])
    values = st.tuples(numbers, texts, decimals, st.dates(), moments, st.binary())

    @given(rows=st.lists(values, min_size=1, max_size=50))
    @settings(
        max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    def check(rows):
        ask("DROP TABLE IF EXISTS t")
        given_rows = [
            dict(zip(declared.column_names, (number, *row), strict=True))
            for number, row in enumerate(rows)
        ]
        written(server, declared, staged(tmp_path, given_rows, schema))
        back = pq.read_table(MySQLReader(server).spool("SELECT * FROM t ORDER BY id", tmp_path))
        assert back.to_pylist() == given_rows
        # -0.0 == 0.0, but they are not the same.
        assert [str(row["double"]) for row in back.to_pylist()] == [
            str(row["double"]) for row in given_rows
        ]

    check()


@pytest.mark.proves("type-table")
@both
def test_the_table_we_create_is_no_drift(server, tmp_path):
    target = MySQLTarget(server)
    written(server, EVERY_KIND, staged(tmp_path, []))
    with target.open_read_only() as session:
        actual = session.columns(TableName(name="t"))
    assert compare(EVERY_KIND, actual, target.dialect).changes == ()


@pytest.mark.proves("mysql-exact-text")
@both
def test_keys_tell_cases_and_blanks_apart(server, flavour, ask, tmp_path):
    declared = table(Column(name="k", type=Text(), primary_key=True), merge_keys=("k",))
    rows = [{"k": text} for text in ("a", "A", "a ", "á", "")]
    schema = pa.schema([("k", pa.string())])
    assert written(server, declared, staged(tmp_path, rows, schema)) == 5
    assert MySQLTarget(server).dialect == flavour
    [(collation,)] = ask(
        "SELECT COLLATION_NAME FROM information_schema.COLUMNS "
        "WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't'"
    )
    assert collation == COLLATIONS[flavour]


def keyed_layout(collation, ask):
    ask(
        f"CREATE TABLE t (k VARCHAR(9) CHARACTER SET utf8mb4 COLLATE {collation} PRIMARY KEY, "
        "v VARCHAR(9) CHARACTER SET latin1)"
    )
    declared = table(
        Column(name="k", type=String(9), primary_key=True),
        Column(name="v", type=String(9), nullable=True),
    )
    return Layout(table=declared, mode=Mode.MERGE, given=("k", "v"), keys=("k",))


def looked_at(server):
    target = MySQLTarget(server)
    with target.open_read_only() as session:
        return session.columns(TableName(name="t")), target.dialect


def test_a_key_that_the_table_compares_loosely_is_warned_of(server, ask):
    layout = keyed_layout("utf8mb4_general_ci", ask)
    [warning] = other_collations(layout, *looked_at(server))
    assert "t: key k has the collation utf8mb4_general_ci, for which texts that differ" in warning


@pytest.mark.proves("mysql-exact-text")
@both
def test_a_key_that_cannot_be_compared_is_refused_with_the_statement_that_helps(server, ask):
    layout = keyed_layout("utf8mb4_bin", ask)
    with pytest.raises(DriftError, match="for which `a` and `a ` are one key") as caught:
        refuse_incomparable_keys(layout, *looked_at(server))
    ask(caught.value.hint)
    refuse_incomparable_keys(layout, *looked_at(server))
    assert other_collations(layout, *looked_at(server)) == ()


# Reading


@both
def test_types_of_the_source_travel_exactly(read, ask):
    ask(
        "CREATE TABLE s (ub BIGINT UNSIGNED, ui INT UNSIGNED, us SMALLINT UNSIGNED, ti TINYINT, "
        "ut TINYINT UNSIGNED, mi MEDIUMINT, f FLOAT, n DECIMAL(65,30), b1 BIT(1), b3 BIT(3), "
        "b64 BIT(64), y YEAR, e ENUM('x','y'), st SET('a','b'), ts TIMESTAMP(6) NULL, "
        "dt DATETIME, bi BINARY(3), j JSON, bl LONGBLOB, la VARCHAR(9) CHARACTER SET latin1)"
    )
    ask(
        "INSERT INTO s VALUES (18446744073709551615, 4294967295, 65535, -128, 255, -8388608, "
        "16777216, 1.5, b'1', b'101', 18446744073709551615, 2024, 'y', 'a,b', "
        "'2024-01-01 00:00:00.123456', '2024-01-01 00:00:01', x'00FF', '[1]', x'FF', 'é')"
    )
    got = read("SELECT * FROM s")
    assert got.to_pylist() == [
        {
            "ub": Decimal(18446744073709551615),
            "ui": 4294967295,
            "us": 65535,
            "ti": -128,
            "ut": 255,
            "mi": -8388608,
            "f": 16777216.0,  # 16777200 is what the server shows of it
            "n": "1.500000000000000000000000000000",
            "b1": True,
            "b3": 5,
            "b64": Decimal(18446744073709551615),
            "y": 2024,
            "e": "y",
            "st": "a,b",
            "ts": datetime(2024, 1, 1, 0, 0, 0, 123456, tzinfo=UTC),
            "dt": datetime(2024, 1, 1, 0, 0, 1),
            "bi": b"\x00\xff\x00",
            "j": "[1]",
            "bl": b"\xff",
            "la": "é",
        }
    ]
    assert got.schema.field("f").type == pa.float32()


@both
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT 1 AS a -- the end", ["a"]),
        ("WITH x AS (SELECT 1 AS a) SELECT * FROM x", ["a"]),
        ("/* so */ with x as (select 1 as a, 2.5 as b) select b from x order by 1 limit 3", ["b"]),
        ("SELECT 1 AS a UNION ALL SELECT 2", ["a"]),
        ("SELECT a FROM (SELECT 1 AS a) q ORDER BY a LIMIT 1", ["a"]),
        ("SELECT CAST(1.5 AS FLOAT) AS f, 'x' AS `order`", ["f", "order"]),
    ],
)
def test_any_query_is_described_and_read(server, read, query, names):
    assert [column.name for column in MySQLReader(server).describe(query)] == names
    assert read(query).column_names == names


@pytest.mark.proves("validate-analyses")
def test_describing_reads_no_row(server, ask):
    ask("CREATE TABLE s (a INT)")
    ask("INSERT INTO s VALUES (1)")
    # Reading one would take half a minute.
    MySQLReader(server).describe("SELECT SLEEP(30) AS b, a FROM s GROUP BY a")


@both
def test_a_query_cannot_write(server, ask):
    ask("CREATE TABLE s (a INT)")
    with pytest.raises(QueryError, match="READ ONLY"), MySQLTarget(server).open_read_only() as now:
        now.execute("INSERT INTO s VALUES (1)")


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("d DATE", "'0000-00-00'", "column 'd' holds '0000-00-00', which is not date32"),
        ("d DATETIME", "'2024-00-10 00:00:00'", "holds '2024-00-10 00:00:00'"),
        ("d TINYINT(1)", "7", "column 'd' holds '7', which is not bool (row id=1, d=7)"),
    ],
)
def test_a_value_that_is_not_carried_is_named(read, ask, column, value, said):
    ask("SET SESSION sql_mode = ''")
    ask(f"CREATE TABLE s (id INT, {column})")
    ask(f"INSERT INTO s VALUES (1, {value})")
    with pytest.raises(SourceError) as caught:
        read("SELECT * FROM s")
    assert said in str(caught.value)


@both
def test_a_value_that_is_not_carried_ends_the_query_at_once(server, ask, tmp_path, monkeypatch):
    from ematix_flow.backends.impl.mysql import read as module

    monkeypatch.setattr(module, "BATCH_ROWS", 1)
    ask("CREATE TABLE s (a INT, flag TINYINT(1))")
    ask("INSERT INTO s VALUES (1, 7), (2, 1), (3, 1)")
    # After the first row, which is too wide to wait for others, each takes a minute.
    query = "SELECT a, flag, IF(a = 1, 0, SLEEP(60)) AS slow, REPEAT('x', 100000) AS wide FROM s"
    with pytest.raises(SourceError, match="column 'flag' holds '7'"):
        MySQLReader(server).spool(query, tmp_path)
    mine = (
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST "
        "WHERE DB = DATABASE() AND INFO LIKE '%%SLEEP(60)%%' AND ID <> CONNECTION_ID()"
    )
    assert until(lambda: ask(mine) == ((0,),), seconds=10)


@pytest.mark.parametrize("kind", ["TIME(3)", "POINT"])
def test_a_type_that_is_not_carried_is_refused(read, ask, kind):
    ask(f"CREATE TABLE s (c {kind})")
    with pytest.raises(SourceError, match=r"column 'c' is (TIME|GEOMETRY), which Spark cannot"):
        read("SELECT * FROM s")


def test_rows_come_in_batches(read, monkeypatch):
    from ematix_flow.backends.impl.mysql import read as module

    monkeypatch.setattr(module, "BATCH_ROWS", 100)
    assert read("SELECT seq AS a FROM seq_1_to_1050")["a"].to_pylist() == list(range(1, 1051))


# Looking


@both
def test_tables_are_found_with_and_without_their_database(server, ask, database):
    ask("CREATE TABLE `Odd.name` (id INT PRIMARY KEY, w VARCHAR(9))")
    for relation in ("Odd.name", f"{database.name}.Odd.name"):
        facts = MySQLReader(server).inspect(relation)
        assert [(each.name, each.primary_key) for each in facts.columns] == [
            ("id", True),
            ("w", False),
        ]
    with pytest.raises(
        SourceMissing, match=r"there is no table Odd_name .* \(it has: Odd.name[,)]"
    ):
        MySQLReader(server).inspect("Odd_name")


def test_a_table_without_transactions_is_refused(server, ask):
    ask("CREATE TABLE t (id INT) ENGINE=MyISAM")
    with (
        pytest.raises(TargetError, match=r"table t is kept by MyISAM, which has no transactions"),
        MySQLTarget(server).open_read_only() as session,
    ):
        session.columns(TableName(name="t"))


# What goes wrong


@pytest.mark.proves("no-secret", "retryable")
@both
@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"password": "wrong"}, SourceError, "refuses the password of user 'flow'"),
        ({"database": "nope"}, SourceError, "has no database 'nope'"),
        ({"ssl_mode": "VERIFY_CA", "ssl_ca": "nope.pem"}, SourceError, "no file 'nope.pem'"),
    ],
)
def test_who_is_not_let_in_is_told_why(database, change, error, said):
    with pytest.raises(error) as caught:
        MySQLReader(server_of(database, **change)).inspect(None)
    assert said in str(caught.value)
    assert "wrong" not in str(caught.value)
    assert not caught.value.retryable


def test_nobody_at_the_address_may_be_tried_again(database):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        unheard = server_of(database, port=taken.getsockname()[1])
        with pytest.raises(SourceUnreachable, match="cannot be reached: Connection refused"):
            MySQLReader(unheard).inspect(None)


@both
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT nope FROM s", "Unknown column 'nope'"),
        ("SELECT * FROM nope", "doesn't exist"),
        ("SELECT a\nFROM s\nWHERE a = = 1", "at line 3"),
    ],
)
def test_a_wrong_query_is_refused_in_the_words_of_the_server(server, ask, query, said):
    ask("CREATE TABLE s (a INT)")
    with pytest.raises(QueryError) as caught:
        MySQLReader(server).describe(query)
    assert said in str(caught.value)
    assert "manual" not in str(caught.value)


NARROW = table(
    Column(name="k", type=String(5), primary_key=True),
    Column(name="n", type=SmallInt(), nullable=True),
    Column(name="d", type=Double(), nullable=True),
    Column(name="w", type=Date(), nullable=True),
    Column(name="j", type=JSONB(), nullable=True),
    merge_keys=("k",),
)
WIDE = pa.schema(
    [
        ("k", pa.string()),
        ("n", pa.int16()),
        ("d", pa.float64()),
        ("w", pa.date32()),
        ("j", pa.string()),
    ]
)


@pytest.mark.proves("values-refused")
@both
@pytest.mark.parametrize("local_infile", [True, False])
@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"k": "toolong"}, "k: 'toolong'"),
        ({"k": "inf", "d": float("inf")}, "d is no finite number: inf"),
        ({"k": "nan", "d": float("nan")}, "d is no finite number: nan"),
        ({"k": "year", "w": -719163}, "w is not in the years 0001 to 9999: 0000-12-31"),
        ({"k": "json", "j": "{"}, "j: '{'"),
    ],
)
def test_a_value_that_the_table_cannot_hold_is_named(database, tmp_path, local_infile, row, said):
    server = server_of(database, local_infile=local_infile)
    rows = [{"k": "ok"} | dict.fromkeys(WIDE.names[1:]), dict.fromkeys(WIDE.names) | row]
    with pytest.raises(ContractError) as caught:
        written(server, NARROW, staged(tmp_path, rows, WIDE))
    assert said in str(caught.value)
    assert f"row k={row['k']})" in str(caught.value)


@pytest.mark.proves("nothing-half-written")
def test_a_row_that_is_there_is_refused_and_nothing_is_written(server, ask, tmp_path):
    declared = table(Column(name="k", type=BigInt(), primary_key=True), merge_keys=("k",))
    schema = pa.schema([("k", pa.int64())])
    written(server, declared, staged(tmp_path, [{"k": 1}], schema))
    with pytest.raises(TargetError, match="already there"):
        written(server, declared, staged(tmp_path, [{"k": 2}, {"k": 1}], schema))
    assert ask("SELECT k FROM t") == ((1,),)


@pytest.mark.proves("bad-database", "retryable")
def test_a_lock_that_is_held_makes_the_target_busy(server, ask, database):
    ask("CREATE TABLE t (k INT PRIMARY KEY)")
    ask("INSERT INTO t VALUES (1)")
    with closing(connect(database.server, database=database.name)) as other:
        with other.cursor() as cursor:
            cursor.execute("SELECT * FROM t WHERE k = 1 FOR UPDATE")
        with pytest.raises(DatabaseBusy, match="Lock wait timeout") as caught:
            delete_impatiently(server)
        assert caught.value.retryable


def delete_impatiently(server):
    with MySQLTarget(server).open() as session:
        session.fetch("SET SESSION innodb_lock_wait_timeout = 1")
        session.execute("DELETE FROM t")


@both
def test_an_update_counts_and_locks_the_rows_it_finds(server, ask):
    """Also those that it leaves as they were: that is how a commit holds its fence."""
    ask("CREATE TABLE t (k INT PRIMARY KEY, v INT)")
    ask("INSERT INTO t VALUES (1, 1), (2, 1)")
    target = MySQLTarget(server)
    with target.open() as session, target.open() as other, session.transaction():
        assert session.execute("UPDATE t SET v = ? WHERE k > ?", (1, 0)) == 2
        with pytest.raises(Exception, match=r"(?i)lock"):
            other.fetch("SELECT k FROM t FOR UPDATE NOWAIT")


@pytest.mark.proves("nothing-half-written")
@both
def test_a_transaction_that_fails_leaves_nothing(server, ask):
    ask("CREATE TABLE t (k INT PRIMARY KEY)")

    def fail():
        with MySQLTarget(server).open() as session, session.transaction():
            session.execute("INSERT INTO t VALUES (1)")
            session.execute("INSERT INTO nope VALUES (1)")

    with pytest.raises(QueryError):
        fail()
    assert ask("SELECT * FROM t") == ()


# Staging


def tables(ask):
    return {name for (name,) in ask("SHOW TABLES")}


@both
def test_staging_is_indexed_and_gone_with_the_session(server, ask, tmp_path):
    target = MySQLTarget(server)
    with target.open() as session:
        session.show_staging(staged(tmp_path, [ROW]), EVERY_KIND, "_flow_staging_x")
        assert tables(ask) == {"_flow_staging_x"}
        assert ask("SHOW INDEX FROM _flow_staging_x")[0][4] == "id"
    assert tables(ask) == set()


def task_rows(*ids):
    return pa.record_batch([pa.array(ids, pa.int64())], names=["k"])


KEYED = table(Column(name="k", type=BigInt(), primary_key=True), merge_keys=("k",))


@pytest.mark.proves("attempts-once")
@both
def test_only_the_attempts_that_won_count(server, ask):
    target = MySQLTarget(server)
    staging = target.staging_table("_flow_staging_x_1", KEYED)
    staging.create()
    loader = pickle.loads(pickle.dumps(staging.loader()))
    loader(iter([task_rows(1), task_rows(2)]), "0.0")
    loader(iter([task_rows(1), task_rows(2)]), "0.1")
    found = StagedTable(name=staging.name, tasks=("0.1",), rows=2)
    with target.open() as session:
        session.show_staging(found, KEYED, "_flow_staging_x")
        assert session.fetch("SELECT * FROM _flow_staging_x ORDER BY 1") == [(1,), (2,)]
        assert ask(f"SHOW INDEX FROM {staging.name}")[0][4] == "k"
    assert tables(ask) == {staging.name}
    staging.drop()
    assert tables(ask) == set()


def test_all_rows_of_one_sender_count(server):
    target = MySQLTarget(server)
    staging = target.staging_table("_flow_staging_x_1", KEYED)
    staging.create()
    staging.loader()(iter([task_rows(1, 2)]), "0.0")
    with target.open() as session:
        found = StagedTable(name=staging.name, tasks=None, rows=2)
        session.show_staging(found, KEYED, "_flow_staging_x")
        assert session.fetch("SELECT * FROM _flow_staging_x ORDER BY 1") == [(1,), (2,)]


def test_rows_that_are_lost_before_the_commit_are_noticed(server, ask):
    target = MySQLTarget(server)
    staging = target.staging_table("_flow_staging_x_1", KEYED)
    staging.create()
    staging.loader()(iter([task_rows(1, 2)]), "0.0")
    ask(f"DELETE FROM {staging.name} WHERE k = 1")
    found = StagedTable(name=staging.name, tasks=("0.0",), rows=2)
    with (
        pytest.raises(StagingLost, match="holds 1 rows, but 2 were sent"),
        target.open() as session,
    ):
        session.show_staging(found, KEYED, "_flow_staging_x")


@pytest.mark.proves("nothing-half-written")
def test_a_task_that_fails_leaves_nothing(server, ask):
    staging = MySQLTarget(server).staging_table("_flow_staging_x_1", NARROW)
    staging.create()
    names = WIDE.names
    good, bad = (
        pa.RecordBatch.from_pylist([dict.fromkeys(names) | {"k": key}], schema=WIDE)
        for key in ("ok", "toolong")
    )
    with pytest.raises(ContractError, match="row k=toolong"):
        staging.loader()(iter([good, bad]), "0.0")
    assert ask(f"SELECT * FROM {staging.name}") == ()


@pytest.mark.proves("sweep-own")
def test_what_somebody_still_uses_is_left_for_the_next_run(server, ask, database):
    target = MySQLTarget(server)
    target.staging_table("_flow_staging_x_1", KEYED).create()
    ask("CREATE TABLE _flow_staging_y_1 (of_another INT)")
    with closing(connect(database.server, database=database.name)) as busy:
        with busy.cursor() as cursor:
            cursor.execute("INSERT INTO _flow_staging_x_1 (k) VALUES (1)")
        target.sweep_staging(("_flow_staging_x_",), "shown")
        target.staging_table("_flow_staging_x_2", KEYED).create()
        assert {"_flow_staging_x_1", "_flow_staging_x_2"} <= tables(ask)
    target.sweep_staging(("_flow_staging_x_",), "shown")
    target.staging_table("_flow_staging_x_3", KEYED).create()
    assert tables(ask) == {"_flow_staging_x_3", "_flow_staging_y_1"}


@pytest.mark.proves("no-secret")
def test_nothing_that_travels_shows_the_password(server):
    staging = MySQLTarget(server).staging_table("s", KEYED)
    assert len(server.password) > 8
    assert server.password not in repr(staging) + repr(staging.loader())


@pytest.mark.proves("sweep-own")
def test_what_a_crash_left_is_replaced(server, ask, tmp_path):
    ask("CREATE TABLE _flow_staging_x (odd INT)")
    ask("CREATE TABLE _flow_staging_y (of_another INT)")
    declared = table(Column(name="k", type=BigInt(), primary_key=True))
    schema = pa.schema([("k", pa.int64())])
    assert written(server, declared, staged(tmp_path, [{"k": 1}], schema)) == 1
    assert tables(ask) == {"t", "_flow_staging_y"}


@pytest.mark.proves("lost-lease")
def test_a_run_that_was_taken_over_loses_its_staging(server, ask, tmp_path, monkeypatch):
    from ematix_flow.backends.impl.mysql import write

    monkeypatch.setattr(write, "_PATIENCE_SECONDS", 1)
    declared = table(Column(name="k", type=BigInt(), primary_key=True))
    schema = pa.schema([("k", pa.int64())])
    old = staged(tmp_path, [{"k": 1}], schema, "old.parquet")
    new = staged(tmp_path, [{"k": 2}], schema, "new.parquet")

    def wake_up_too_late():
        with MySQLTarget(server).open() as paused:
            paused.show_staging(old, declared, "_flow_staging_x")
            with MySQLTarget(server).open() as session:
                session.show_staging(new, declared, "_flow_staging_x")
                assert session.fetch("SELECT k FROM _flow_staging_x") == [(2,)]
                paused.fetch("SELECT k FROM _flow_staging_x")

    with pytest.raises(TargetError) as caught:
        wake_up_too_late()
    assert caught.value.retryable
    assert until(lambda: tables(ask) == set(), seconds=10)


def test_nothing_but_queries_can_be_read(server):
    with pytest.raises(NotSupported):
        MySQLReader(server).read_relation(None, "t")
