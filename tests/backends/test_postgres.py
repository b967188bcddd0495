"""PostgreSQL on its own: what it carries, refuses and says. A real server, no JVM."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.postgres.parameters import numbered
from ematix_flow.backends.impl.postgres.read import PostgresReader
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.write import PostgresTarget
from ematix_flow.backends.purpose import DESCRIBING
from ematix_flow.connections.model import PostgresConnection
from ematix_flow.errors import (
    ContractError,
    DatabaseBusy,
    FenceLost,
    NotSupported,
    QueryError,
    SourceError,
    SourceMissing,
    TargetError,
)
from ematix_flow.ports import ActualColumn, StagedFiles
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
from ematix_flow.sqltext.bookkeeping import Bookkeeping
from ematix_flow.sqltext.ddl import create_schema, create_table
from ematix_flow.write.fence import hold_fence, take_fence
from tests.backends.spool import SpoolReader
from tests.services.polling import until
from tests.services.postgres import client

pytestmark = pytest.mark.services

LAST = datetime(9999, 12, 31, 23, 59, 59, 999999)
UID = "0b9f6d3e-6a55-4a0e-8a51-4bb2f7f9e111"


@pytest.fixture(autouse=True)
def _passwords_may_be_written_out(monkeypatch):
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")


@pytest.fixture
def server(postgres_database) -> Server:
    return server_of(postgres_database)


def server_of(found, /, **other) -> Server:
    running = found.server
    login = {"user": running.facts["user"], "password": running.facts["password"]}
    place = {"host": running.host, "port": running.port, "database": found.name}
    return Server.of(PostgresConnection(name="pg", **{**place, **login, **other}))


def run(server: Server, *statements: str) -> None:
    with client().connect(server.dsn, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def rows_of(server: Server, query: str) -> list[tuple[object, ...]]:
    with client().connect(server.dsn, autocommit=True) as connection:
        return connection.execute(query).fetchall()


def exported(server: Server, query: str, folder: Path) -> pa.Table:
    return PostgresReader(server).read_query(SpoolReader(), query, folder / "scratch")


# Reading --------------------------------------------------------------------------------------

CARRIED = [
    ("1::smallint", pa.int16(), 1, "smallint"),
    ("(-2147483648)::integer", pa.int32(), -(2**31), "integer"),
    ("9223372036854775807", pa.int64(), 2**63 - 1, "bigint"),
    ("4294967295::oid", pa.int64(), 2**32 - 1, "oid"),
    ("0.25::real", pa.float32(), 0.25, "real"),
    ("5e-324::float8", pa.float64(), 5e-324, "double precision"),
    ("'-Infinity'::float8", pa.float64(), float("-inf"), "double precision"),
    ("true", pa.bool_(), True, "boolean"),
    ("'zwölf'::text", pa.string(), "zwölf", "text"),
    ("'äö'::varchar(3)", pa.string(), "äö", "varchar"),
    ("'a'::char(3)", pa.string(), "a  ", "char"),
    ("'n'::name", pa.string(), "n", "name"),
    ("1.5::numeric(20,4)", pa.decimal128(20, 4), Decimal("1.5"), "numeric(20,4)"),
    ("(10::numeric ^ 37)::numeric(38,0)", pa.decimal128(38, 0), Decimal(10**37), "numeric(38,0)"),
    ("1.50::numeric", pa.string(), "1.50", "numeric"),
    ("sum(1.10::numeric(5,2))", pa.string(), "1.10", "numeric"),
    ("'NaN'::numeric", pa.string(), "NaN", "numeric"),
    ("1200::numeric(4,-2)", pa.string(), "1200", "numeric(4,-2)"),
    ("1::numeric(60,30)", pa.string(), "1." + "0" * 30, "numeric(60,30)"),
    ("'0001-01-01'::date", pa.date32(), date(1, 1, 1), "date"),
    ("'9999-12-31 23:59:59.999999'::timestamp", pa.timestamp("us"), LAST, "timestamp"),
    (
        "'2026-03-29 03:30+02'::timestamptz",
        pa.timestamp("us", tz="UTC"),
        datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
        "timestamp with time zone",
    ),
    ("""'{"b": 1,  "a": 1}'::json""", pa.string(), '{"b": 1,  "a": 1}', "json"),
    ("""'{"b": 1,  "a": 1}'::jsonb""", pa.string(), '{"a": 1, "b": 1}', "jsonb"),
    (f"'{UID}'::uuid", pa.string(), UID, "uuid"),
    (r"'\x00ff'::bytea", pa.binary(), b"\x00\xff", "bytea"),
    ("array[1, NULL]", pa.list_(pa.int32()), [1, None], "integer[]"),
    ("array['a']::varchar(3)[]", pa.list_(pa.string()), ["a"], "varchar[]"),
    ("array[1.50::numeric(5,2)]", pa.list_(pa.string()), ["1.50"], "numeric[]"),
    (f"array['{UID}'::uuid]", pa.list_(pa.string()), [UID], "uuid[]"),
    ("array['2026-01-01'::date]", pa.list_(pa.date32()), [date(2026, 1, 1)], "date[]"),
    (
        "array[NULL, '2026-01-01'::timestamp]",
        pa.list_(pa.timestamp("us")),
        [None, datetime(2026, 1, 1)],
        "timestamp[]",
    ),
    ("'{}'::int[]", pa.list_(pa.int32()), [], "integer[]"),
    ("NULL::int[]", pa.list_(pa.int32()), None, "integer[]"),
    ("NULL::date", pa.date32(), None, "date"),
    ("NULL", pa.string(), None, "text"),
]


def test_each_type_is_carried_exactly(server, tmp_path):
    # One query with them all: the columns are independent of each other.
    names = [f"c{number}" for number in range(len(CARRIED))]
    listed = ", ".join(f'{case[0]} AS "{name}"' for case, name in zip(CARRIED, names, strict=True))
    query = f"SELECT {listed} -- the last word"
    described = PostgresReader(server).describe(query)
    assert [(each.name, each.type) for each in described] == [
        (name, case[3]) for case, name in zip(CARRIED, names, strict=True)
    ]
    table = exported(server, query, tmp_path)
    for name, (expression, kind, value, _) in zip(names, CARRIED, strict=True):
        found = table.schema.field(name).type
        same = found == kind or (pa.types.is_list(found) and found.value_type == kind.value_type)
        assert same, (expression, found)
        assert table[name].to_pylist() == [value], expression


def test_an_enum_is_carried_as_text(server, tmp_path):
    run(server, "CREATE TYPE mood AS ENUM ('sad', 'fine')")
    query = "SELECT 'fine'::mood AS x, array['sad'::mood] AS y"
    assert [each.type for each in PostgresReader(server).describe(query)] == ["mood", "mood[]"]
    assert exported(server, query, tmp_path).to_pylist() == [{"x": "fine", "y": ["sad"]}]


@pytest.mark.parametrize(
    ("expression", "kind", "cast"),
    [
        ("interval '1 day'", "interval", "text"),
        ("'101'::bit(3)", "bit", "text"),
        ("time '01:02:03'", "time", "text"),
        ("timetz '01:02:03+01'", "time with time zone", "text"),
        ("1.5::money", "money", "numeric"),
        ("'10.0.0.1'::inet", "inet", "text"),
        ("row(1, 2)", "record", "text"),
        ("array[interval '1 day']", r"interval\[\]", r"text\[\]"),
    ],
)
def test_a_type_that_nobody_carries_is_refused_with_a_way_out(
    server, tmp_path, expression, kind, cast
):
    with pytest.raises(SourceError, match=f"column 'x' is {kind},") as caught:
        exported(server, f"SELECT 1 AS id, {expression} AS x", tmp_path)
    assert caught.match(rf"Hint: CAST\(x AS {cast}\) in the query")


@pytest.mark.parametrize(
    ("expression", "shown"),
    [
        ("timestamp 'infinity'", "infinity"),
        ("date '-infinity'", "-infinity"),
        ("timestamptz 'infinity'", "infinity"),
        ("timestamp '294276-12-31'", "294276-12-31 00:00:00"),
        ("timestamptz '294276-12-31 00:00+00'", "294276-12-31 00:00:00+00"),
        ("array[timestamp '294276-12-31', NULL]", '{"294276-12-31 00:00:00",NULL}'),
        ("array[NULL, timestamptz '-infinity']", "{NULL,-infinity}"),
        ("array[[1, 2], [3, 4]]", "{{1,2},{3,4}}"),
        ("array[date 'infinity']", "{infinity}"),
    ],
)
def test_a_value_that_would_be_changed_is_named(server, tmp_path, expression, shown):
    query = (
        f"""SELECT CASE id WHEN 2 THEN {expression} END AS "it's" FROM generate_series(1, 3) id"""
    )
    with pytest.raises(SourceError) as caught:
        exported(server, query, tmp_path)
    assert f'column "it\'s" holds {shown}, which cannot be carried exactly' in str(caught.value)


def test_a_number_that_no_decimal_can_be_is_named(server, tmp_path):
    run(server, "CREATE TABLE t (id int, x numeric(10,2))")
    run(server, "INSERT INTO t VALUES (1, 1.5), (2, NULL), (3, 'NaN')")
    with pytest.raises(SourceError, match="column 'x' holds NaN, which cannot be carried exactly"):
        exported(server, "SELECT * FROM t", tmp_path)
    assert exported(server, "SELECT x FROM t WHERE id < 3", tmp_path).to_pylist() == [
        {"x": Decimal("1.50")},
        {"x": None},
    ]


@pytest.mark.proves("validate-analyses")
def test_a_query_is_refused_in_postgres_words_with_the_place(server):
    reader = PostgresReader(server)
    run(server, "CREATE TABLE orders (order_id bigint)")
    with pytest.raises(QueryError) as caught:
        reader.describe("SELECT 'ä',\n  order_idd FROM orders")
    text = str(caught.value)
    assert 'column "order_idd" does not exist (line 2, column 3), near: order_idd FROM' in text
    assert 'Hint: Perhaps you meant to reference the column "orders.order_id"' in text
    with pytest.raises(QueryError, match=r'relation "order" does not exist \(line 1, column 15\)'):
        reader.describe('SELECT * FROM "order"')
    with pytest.raises(QueryError, match="syntax error at end of input"):
        reader.describe("SELECT * FROM")
    assert "libpq" not in text


def test_a_query_that_fails_among_its_rows_is_an_error_of_the_source(server, tmp_path):
    query = "SELECT 1 / (900000 - g) AS x FROM generate_series(1, 1000000) g"
    with pytest.raises(SourceError, match="PostgreSQL: division by zero") as caught:
        exported(server, query, tmp_path)
    assert "libpq" not in str(caught.value)


def test_a_source_cannot_be_written_by_its_query(server, tmp_path):
    run(server, "CREATE TABLE t (id int)", "CREATE SEQUENCE s")
    with pytest.raises(QueryError, match="must not write"):
        exported(server, "SELECT nextval('s') AS x", tmp_path)
    with pytest.raises(QueryError, match=r"must not write|refuses the query"):
        exported(
            server, "WITH n AS (INSERT INTO t VALUES (1) RETURNING id) SELECT * FROM n", tmp_path
        )
    assert rows_of(server, "SELECT count(*) FROM t") == [(0,)]


@pytest.mark.proves("validate-analyses", "hostile-names")
def test_describing_reads_no_row_and_inspecting_a_table_tells_its_columns(server):
    run(
        server,
        'CREATE SCHEMA "my.shop"',
        'CREATE TABLE "my.shop"."or""ders.2026" ("Order Id" bigint PRIMARY KEY, "näme" varchar(8))',
        "CREATE TABLE plain (id int NOT NULL, at timestamp, ats timestamptz[])",
        "INSERT INTO plain SELECT g FROM generate_series(1, 10000) g",
        "CREATE VIEW seen AS SELECT id, 1 / (id - 1) AS broken FROM plain",
    )
    reader = PostgresReader(server)
    odd = reader.inspect('my.shop.or"ders.2026')
    assert odd.columns == (
        ActualColumn(name="Order Id", type="bigint", nullable=False, primary_key=True),
        ActualColumn(name="näme", type="varchar(8)", nullable=True, primary_key=False),
    )
    for name in ("plain", "PLAIN", "public.plain", "Public.Plain"):
        plain = reader.inspect(name)
        assert plain.columns is not None
        assert [(each.name, each.type) for each in plain.columns] == [
            *(("id", "integer"), ("at", "timestamp"), ("ats", "timestamp with time zone[]"))
        ]
        assert plain.size_bytes is not None
        assert plain.size_bytes > 100_000
    assert reader.inspect("seen").size_bytes is None
    # Would divide by zero if it read a row.
    assert [each.name for each in reader.describe("SELECT * FROM seen")] == ["id", "broken"]
    assert reader.inspect(None).columns is None
    with pytest.raises(SourceMissing, match=r"no table plainn in .*; did you mean 'plain'"):
        reader.inspect("plainn")
    with pytest.raises(NotSupported):
        reader.read_relation(SpoolReader(), "plain")


def test_a_view_and_a_table_of_another_schema_are_read(server, tmp_path):
    run(
        server,
        'CREATE SCHEMA "a.b"',
        'CREATE TABLE "a.b"."t" (id int)',
        'INSERT INTO "a.b"."t" VALUES (7)',
        'CREATE VIEW v AS SELECT id FROM "a.b"."t"',
    )
    query = 'SELECT v.id, v.id FROM v JOIN "a.b"."t" AS t USING (id)'
    table = exported(server, query, tmp_path)
    assert table.column_names == ["id", "id"]
    assert [column.to_pylist() for column in table.columns] == [[7], [7]]
    assert exported(server, "SELECT * FROM v WHERE false", tmp_path).schema.names == ["id"]


# Connecting -----------------------------------------------------------------------------------


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.proves("no-secret", "bad-database", "retryable")
@pytest.mark.parametrize(
    ("other", "said", "hint"),
    [
        (
            {"password": "not-the-password"},
            r"127\.0\.0\.1:\d+ refuses the password of user 'postgres'",
            "check `user` and `password`",
        ),
        ({"database": "no such"}, "has no database 'no such'", "CREATE DATABASE"),
        ({"user": "nobody"}, "of user 'nobody'", "check `user`"),
        ({"port": unused_port()}, r"cannot be reached: Connection refused", "is the server up"),
        ({"host": "nowhere.invalid"}, "cannot be reached: could not translate", "is the server up"),
        ({"sslmode": "require"}, "server does not support SSL", "check `sslmode`"),
        ({"properties": {"no_such": "1"}}, "is not one that PostgreSQL understands", "options"),
    ],
)
def test_what_does_not_connect_says_why_without_a_secret(postgres_database, other, said, hint):
    server = server_of(postgres_database, **other)
    with pytest.raises(SourceError, match=said) as caught:
        PostgresReader(server).inspect(None)
    assert hint in str(caught.value)
    with pytest.raises(TargetError, match=said) as refused, PostgresTarget(server).open_read_only():
        pass
    assert caught.value.retryable == refused.value.retryable == ("reached" in said)
    password = postgres_database.server.facts["password"]
    for error in (caught.value, refused.value):
        assert password not in str(error)
        assert "not-the-password" not in str(error)
        assert "libpq" not in str(error)
    assert "password" not in repr(server)


@pytest.fixture
def guest(server):
    """The database as a user that may log in and nothing more."""
    name = f"guest_{server.database}"
    run(server, f"CREATE ROLE {name} LOGIN PASSWORD 'guest-password'")
    yield replace(
        server,
        dsn=server.dsn.replace(f"//{server.user}:", f"//{name}:").replace(
            server.dsn.split(":")[2].split("@")[0], "guest-password"
        ),
        user=name,
    )
    run(server, f"DROP OWNED BY {name}", f"DROP ROLE {name}")


def test_what_a_user_may_not_read_is_known_before_a_row_is(server, guest, tmp_path):
    run(server, "CREATE TABLE secrets (id int)", "CREATE VIEW v AS SELECT 1 AS id")
    with pytest.raises(SourceError, match=r"not allowed to read public\.secrets") as caught:
        PostgresReader(guest).inspect("secrets")
    assert "GRANT SELECT ON public.secrets" in str(caught.value)
    with pytest.raises(SourceError, match="is not allowed to: permission denied for table secrets"):
        exported(guest, "SELECT * FROM secrets", tmp_path)
    run(server, f"GRANT SELECT ON secrets TO {guest.user}")
    assert PostgresReader(guest).inspect("secrets").columns is not None


@pytest.mark.proves("bad-database")
def test_a_user_that_may_write_but_not_create_can_load(server, guest):
    declared = Table(
        name=TableName(name="t", schema="shop"),
        location=Location("x.py", 1),
        columns=(Column(name="id", type=BigInt(), primary_key=True),),
    )
    ddl = (create_schema("shop", "postgres"), create_table(declared, declared.name, "postgres"))
    with (
        pytest.raises(TargetError, match="not allowed to: permission denied for database"),
        PostgresTarget(guest).open() as session,
    ):
        session.execute(ddl[0])
    run(server, *ddl, f"GRANT USAGE ON SCHEMA shop TO {guest.user}")
    with PostgresTarget(guest).open() as session:
        for statement in ddl:
            assert session.execute(statement) == 0
    with (
        pytest.raises(TargetError, match="permission denied for table t"),
        PostgresTarget(guest).open() as session,
    ):
        session.execute('INSERT INTO "shop"."t" VALUES (1)')
    run(server, f"GRANT INSERT ON shop.t TO {guest.user}")
    with PostgresTarget(guest).open() as session:
        assert session.execute('INSERT INTO "shop"."t" VALUES (1)') == 1


# Writing --------------------------------------------------------------------------------------

KEYED = Table(
    name=TableName(name="t"),
    location=Location("x.py", 1),
    columns=(
        Column(name="id", type=BigInt(), primary_key=True),
        Column(name="words", type=Text(), nullable=True),
    ),
)


def staged(folder: Path, *tables: pa.Table) -> StagedFiles:
    files = tuple(folder / f"part-{number}.parquet" for number in range(len(tables)))
    for file, table in zip(files, tables, strict=True):
        pq.write_table(table, file)
    return StagedFiles(files=files, rows=sum(table.num_rows for table in tables))


def test_missing_tables_and_schemas_are_none_and_the_planners_eyes_cannot_write(server):
    target = PostgresTarget(server)
    assert target.exists()
    with target.open_read_only() as session:
        assert session.columns(TableName(name="t")) is None
        assert session.columns(TableName(name="t", schema="nowhere")) is None
    with pytest.raises(QueryError, match="must not write"), target.open_read_only() as session:
        session.execute("CREATE TABLE t (id int)")
    assert rows_of(server, "SELECT count(*) FROM pg_class WHERE relname = 't'") == [(0,)]


def test_a_table_without_schema_is_the_one_that_create_would_make(server):
    run(server, "CREATE TABLE t (id int)", "CREATE SCHEMA first")
    there = replace(server, dsn=server.dsn + "&options=-csearch_path%3Dfirst%2Cpublic")
    with PostgresTarget(there).open_read_only() as session:
        assert session.columns(TableName(name="t")) is None
        assert session.columns(TableName(name="t", schema="public")) is not None
    with PostgresTarget(server).open_read_only() as session:
        assert session.columns(TableName(name="t")) is not None


def test_staging_hides_a_table_of_its_name_and_is_gone_afterwards(server, tmp_path):
    run(server, "CREATE TABLE _flow_staging AS SELECT 99 AS id")
    rows = staged(tmp_path, pa.table({"id": [1], "words": ["a"]}))
    with PostgresTarget(server).open() as session:
        session.show_staging(rows, KEYED, "_flow_staging")
        assert session.fetch('SELECT id, words FROM "_flow_staging"') == [(1, "a")]
    assert rows_of(server, 'SELECT id FROM "_flow_staging"') == [(99,)]


@pytest.mark.proves("values-refused")
def test_text_with_a_nul_is_named_by_its_key(server, tmp_path):
    files = (
        pa.table({"words": ["fine"] * 3, "id": [1, 2, 3]}),
        pa.table({"words": ["fine", "a\0b"], "id": [4, 5]}),
    )
    with PostgresTarget(server).open() as session, pytest.raises(ContractError) as caught:
        session.show_staging(staged(tmp_path, *files), KEYED, "_flow_staging")
    assert "words holds a NUL character" in str(caught.value)
    assert "(row id=5)" in str(caught.value)
    keyless = replace(KEYED, columns=tuple(replace(c, primary_key=False) for c in KEYED.columns))
    with PostgresTarget(server).open() as session, pytest.raises(ContractError, match="row 5"):
        session.show_staging(staged(tmp_path, *files), keyless, "_flow_staging")


def test_text_that_is_too_long_is_refused_not_cut(server, tmp_path):
    columns = (Column(name="id", type=BigInt()), Column(name="words", type=String(3)))
    declared = replace(KEYED, columns=columns)
    rows = staged(tmp_path, pa.table({"id": [1], "words": ["abcd"]}))
    run(server, create_table(declared, declared.name, "postgres"))

    def load(session) -> None:
        session.show_staging(rows, declared, "s")
        insert(session, declared)

    with (
        pytest.raises(TargetError, match="too long for type character varying"),
        PostgresTarget(server).open() as session,
    ):
        load(session)


def insert(session, table: Table) -> int:
    listed = ", ".join(f'"{column.name}"' for column in table.columns)
    return session.execute(f'INSERT INTO "t" ({listed}) SELECT {listed} FROM "s"')


EVERY = {
    SmallInt(): st.integers(-(2**15), 2**15 - 1),
    Integer(): st.integers(-(2**31), 2**31 - 1),
    BigInt(): st.integers(-(2**63), 2**63 - 1),
    Float(): st.floats(width=32, allow_nan=False),
    Double(): st.floats(allow_nan=False),
    Boolean(): st.booleans(),
    Text(): st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    String(5): st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
    Numeric(38, 0): st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal),
    Numeric(38, 38): st.integers(-(10**38) + 1, 10**38 - 1).map(lambda n: Decimal(f"{n}E-38")),
    Numeric(20, 4): st.integers(-(10**20) + 1, 10**20 - 1).map(lambda n: Decimal(f"{n}E-4")),
    Date(): st.dates(),
    Timestamp(): st.datetimes(),
    TimestampTZ(): st.datetimes(timezones=st.just(UTC)),
    UUID(): st.uuids().map(str),
    JSON(): st.sampled_from(['{"a":  1}', "null", "[]", '"ä"']),
    JSONB(): st.sampled_from(['{"a": 1}', "null", "[]", '"ä"']),
    Bytes(): st.binary(),
    Array(Integer()): st.lists(st.none() | st.integers(-(2**31), 2**31 - 1)),
    Array(Text()): st.lists(
        st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"))
    ),
    Array(UUID()): st.lists(st.uuids().map(str)),
    Array(TimestampTZ()): st.lists(st.datetimes(timezones=st.just(UTC))),
}
ARROW = {
    SmallInt: pa.int16(),
    Integer: pa.int32(),
    BigInt: pa.int64(),
    Float: pa.float32(),
    Double: pa.float64(),
    Boolean: pa.bool_(),
    Date: pa.date32(),
    Timestamp: pa.timestamp("us"),
    TimestampTZ: pa.timestamp("us", tz="UTC"),
    Bytes: pa.binary(),
}


def arrow_type(kind) -> pa.DataType:
    match kind:
        case Numeric(precision, scale):
            return pa.decimal128(precision, scale)
        case Array(element):
            return pa.list_(arrow_type(element))
        case _:
            return ARROW.get(type(kind), pa.string())


EVERYTHING = Table(
    name=TableName(name="t"),
    location=Location("x.py", 1),
    columns=tuple(
        Column(name=f"c{number}", type=kind, nullable=True) for number, kind in enumerate(EVERY)
    ),
)


@pytest.mark.proves("types-survive")
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=st.lists(st.tuples(*(st.none() | values for values in EVERY.values())), max_size=5))
def test_what_is_staged_is_stored_and_read_back(server, tmp_path, rows):
    columns = list(zip(*rows, strict=True)) or [[] for _ in EVERY]
    arrays = [pa.array(list(c), arrow_type(kind)) for c, kind in zip(columns, EVERY, strict=True)]
    table = pa.table(arrays, names=[column.name for column in EVERYTHING.columns])
    with PostgresTarget(server).open() as session:
        session.execute("DROP TABLE IF EXISTS t")
        session.execute(create_table(EVERYTHING, EVERYTHING.name, "postgres"))
        session.show_staging(staged(tmp_path, table), EVERYTHING, "s")
        assert insert(session, EVERYTHING) == len(rows)
    back = exported(server, "SELECT * FROM t", tmp_path)
    # What SQL's text is equal to is what was staged: -0.0 stays, infinity stays.
    assert [[repr(v) for v in row.values()] for row in back.to_pylist()] == [
        [repr(v) for v in row.values()] for row in table.to_pylist()
    ]


def test_rows_that_a_trigger_swallows_are_counted_as_not_inserted(server, tmp_path):
    run(
        server,
        "CREATE TABLE t (id bigint, words text)",
        "CREATE FUNCTION half() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN IF NEW.id % 2 = 1 THEN RETURN NULL; END IF; RETURN NEW; END'",
        "CREATE TRIGGER half BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION half()",
    )
    rows = staged(tmp_path, pa.table({"id": [1, 2], "words": ["a", "b"]}))
    with PostgresTarget(server).open() as session:
        session.show_staging(rows, KEYED, "s")
        assert insert(session, KEYED) == 1


def test_two_that_create_at_once_both_succeed(server):
    ddl = [
        create_schema("shop", "postgres"),
        *(
            create_table(KEYED, TableName(name=f"t{number}", schema="shop"), "postgres")
            for number in range(20)
        ),
    ]

    def create() -> None:
        with PostgresTarget(server).open() as session:
            for statement in ddl:
                session.execute(statement)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(create) for _ in range(4)]:
            done.result(timeout=60)
    assert rows_of(server, "SELECT count(*) FROM pg_tables WHERE schemaname = 'shop'") == [(20,)]


def with_bookkeeping(server: Server) -> PostgresTarget:
    run(server, *Bookkeeping("postgres").create)
    return PostgresTarget(server)


@pytest.mark.proves("lost-lease")
def test_each_of_many_runs_at_once_takes_a_fence_of_its_own(server):
    target, sql = with_bookkeeping(server), Bookkeeping("postgres")

    def take(_: int) -> int:
        with target.open() as session:
            return take_fence(session, sql, "p")

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(take, range(16))) == list(range(1, 17))


@pytest.mark.proves("lost-lease")
def test_a_commit_that_waited_for_another_run_sees_that_it_lost(server):
    target, sql = with_bookkeeping(server), Bookkeeping("postgres")
    waiting = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )

    def commit(token: int) -> None:
        with target.open() as session, session.transaction():
            hold_fence(session, sql, "p", token)

    with target.open() as session:
        token = take_fence(session, sql, "p")
    with ThreadPoolExecutor(1) as pool:
        with target.open() as other, other.transaction():
            other.execute(sql.raise_fence, ("p",))
            committing = pool.submit(commit, token)
            assert until(lambda: rows_of(server, waiting) == [(1,)], seconds=30)
        with pytest.raises(FenceLost, match="its fence is 2, ours was 1"):
            committing.result(timeout=30)


@pytest.mark.proves("bad-database", "retryable")
def test_a_table_that_another_holds_is_busy(server, monkeypatch):
    run(server, "CREATE TABLE t (id int)")
    impatient = replace(DESCRIBING, lock_seconds=0.05)
    monkeypatch.setattr("ematix_flow.backends.impl.postgres.read.DESCRIBING", impatient)
    with client().connect(server.dsn) as holder:
        holder.execute("LOCK TABLE t")
        with pytest.raises(DatabaseBusy, match="lock timeout") as caught:
            PostgresReader(server).describe("SELECT * FROM t")
    assert caught.value.retryable


def test_a_connection_that_the_server_ends_can_be_tried_again(server):
    def end(session) -> None:
        [(pid,)] = session.fetch("SELECT pg_backend_pid()")
        run(server, f"SELECT pg_terminate_backend({pid}, 5000)")
        session.fetch("SELECT 1")

    with (
        pytest.raises(TargetError, match="ended the connection") as caught,
        PostgresTarget(server).open() as session,
        session.transaction(),
    ):
        end(session)
    assert caught.value.retryable


@pytest.mark.proves("nothing-half-written")
def test_a_transaction_that_fails_changes_nothing_and_says_why(server):
    run(server, "CREATE TABLE t (id int)")

    def fail(session) -> None:
        session.execute("INSERT INTO t VALUES (1)")
        raise ValueError("the reason")

    with (
        PostgresTarget(server).open() as session,
        pytest.raises(ValueError, match="the reason"),
        session.transaction(),
    ):
        fail(session)
    assert rows_of(server, "SELECT count(*) FROM t") == [(0,)]


def test_parameters_are_found_where_they_are_meant():
    sql = """UPDATE "ä?%s" SET a = %s, b = '?%s' || ? WHERE c %s = 1 AND d IN (%s, ?) -- ?"""
    assert numbered(sql) == (
        """UPDATE "ä?%s" SET a = $1, b = '?%s' || $2 WHERE c %s = 1 AND d IN ($3, $4) -- ?"""
    )


def test_values_of_parameters_are_never_sql(server):
    odd = "'; DROP TABLE t; -- $1 ? %s"
    run(server, "CREATE TABLE t (id bigint, words text)")
    with PostgresTarget(server).open() as session:
        assert session.execute("INSERT INTO t VALUES (?, ?)", (1, odd)) == 1
        assert session.execute("UPDATE t SET id = 2 WHERE words = %s", (odd,)) == 1
        assert session.execute("UPDATE t SET id = 3 WHERE words = %s", ("other",)) == 0
        assert session.fetch("SELECT id FROM t WHERE words = ?", (odd,)) == [(2,)]
        assert session.execute("DELETE FROM t") == 1
