"""From one PostgreSQL into another, byte by byte."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.postgres.passing import can_pass
from ematix_flow.backends.impl.postgres.read import PostgresReader
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.staging_table import PostgresStagingTable
from ematix_flow.backends.impl.postgres.write import PostgresTarget
from ematix_flow.errors import SourceError, SourceUnreachable, TargetError, TargetUnreachable
from ematix_flow.spec.table import Column, Table, TableName
from tests.backends.test_postgres import rows_of, run, server_of
from tests.services.polling import until

pytestmark = pytest.mark.services

EVERYTHING = """SELECT n AS id, 'text ' || n AS words, n::smallint AS small,
  n / 4.0::float8 AS ratio,
  n::numeric(12,2) / 4 AS amount, n % 2 = 0 AS flag, date '2026-01-01' + n AS day,
  timestamp '2026-01-01' + n * interval '1 hour 1 microsecond' AS wall,
  timestamptz '2026-01-01 00:00+02' + n * interval '1 hour' AS at,
  md5(n::text)::uuid AS reference, ('{"n": ' || n || '}')::jsonb AS data, 'abc'::char(5) AS padded,
  decode('00ff', 'hex') AS bytes, n::real AS little,
  CASE WHEN n % 3 = 0 THEN 'x' END AS sometimes
FROM generate_series(1, 1000) AS n"""


@pytest.fixture
def server(postgres_database, monkeypatch) -> Server:
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    return server_of(postgres_database)


def arriving(server: Server, query: str) -> Table:
    columns = tuple(
        Column(name=each.name, type=each.type, nullable=True)
        for each in PostgresReader(server).arriving(query)
        if each.type is not None
    )
    return Table(name=TableName(name="t"), columns=columns, location=Location("x.py", 1))


def staged(server: Server, query: str) -> PostgresStagingTable:
    table = PostgresTarget(server).staging_table("_flow_staging_test", arriving(server, query))
    assert isinstance(table, PostgresStagingTable)
    assert table.passes_from(PostgresReader(server))
    table.create()
    return table


def passed(server: Server, query: str, told=lambda _: None) -> int:
    return staged(server, query).pass_rows(PostgresReader(server), query, told).rows


def test_rows_arrive_as_they_are(server):
    told: list[int] = []
    assert passed(server, EVERYTHING, told.append) == 1000
    names = ", ".join(each.name for each in arriving(server, EVERYTHING).columns)
    # JSON travels as text, and a number without digits as well; each is the same as it was.
    shown = names.replace("data", "data::text").replace("amount", "amount::text")
    source = f"SELECT {shown} FROM ({EVERYTHING}) AS s ORDER BY 1"
    assert rows_of(server, f"SELECT {names} FROM _flow_staging_test ORDER BY 1") == rows_of(
        server, source
    )
    assert told == sorted(told)
    assert told[-1] > 100_000


def test_no_rows_are_none(server):
    assert passed(server, "SELECT 1 AS id WHERE false") == 0


def test_it_may_be_called_where_a_loop_is_running(server):
    async def in_a_notebook() -> int:
        return passed(server, "SELECT 1 AS id")

    assert asyncio.run(in_a_notebook()) == 1


FAILS_LATE = "SELECT n AS id, 1 / (500000 - n) AS x FROM generate_series(1, 1000000) AS n"


@pytest.mark.proves("nothing-half-written")
@pytest.mark.parametrize(
    ("query", "said"),
    [
        (FAILS_LATE, "division by zero"),
        ("SELECT date 'infinity' AS day", "column 'day' holds infinity"),
        ("SELECT 'NaN'::numeric(5,2) AS x", "column 'x' holds NaN, which cannot be carried"),
    ],
)
def test_a_failure_of_the_query_is_the_sources(server, query, said):
    with pytest.raises(SourceError, match=said):
        passed(server, query)
    assert rows_of(server, "SELECT count(*) FROM _flow_staging_test") == [(0,)]


def test_what_is_altered_after_planning_is_noticed(server):
    run(server, "CREATE TABLE t (id bigint)", "INSERT INTO t VALUES (1)")
    table = staged(server, "SELECT * FROM t")
    run(server, "ALTER TABLE t ALTER id TYPE float8 USING 1.6")
    with pytest.raises(SourceError, match="'id' of the query is Double, but was BigInt when"):
        table.pass_rows(PostgresReader(server), "SELECT * FROM t", lambda _: None)


def test_a_failure_of_the_table_is_the_targets(server):
    table = staged(server, "SELECT 1 AS id")
    run(server, "ALTER TABLE _flow_staging_test ADD CHECK (id > 5)")
    with pytest.raises(TargetError, match="violates check constraint"):
        table.pass_rows(PostgresReader(server), "SELECT 1 AS id", lambda _: None)


@pytest.mark.parametrize(
    ("ended", "failure"), [("COPY (%", SourceUnreachable), ('COPY "%', TargetUnreachable)]
)
def test_a_server_that_goes_away_is_told_by_its_side(server, ended, failure):
    query = "SELECT n AS id FROM generate_series(1, 100000000) AS n"
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE query LIKE '{ended}' AND datname = '{server.database}'"
    )
    gone: list[object] = []

    def tell(count: int) -> None:
        if not gone and count > 1_000_000:
            gone.extend(rows_of(server, end))

    with pytest.raises(failure):
        passed(server, query, tell)
    assert gone
    assert until(lambda: not copying(server), seconds=30)


def copying(server: Server) -> list[tuple[object, ...]]:
    return rows_of(
        server,
        "SELECT query FROM pg_stat_activity WHERE query LIKE 'COPY %' "
        f"AND state = 'active' AND datname = '{server.database}'",
    )


INTERRUPTED = """
import signal
from tests.backends.test_postgres_passing import passed
from ematix_flow.backends.impl.postgres.server import Server
# Whoever started the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
server = Server(dsn={dsn!r}, address="x", database="x", user="x")
try:
    passed(server, "SELECT n AS id FROM generate_series(1, 1000000000000) AS n")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_ends_it_on_both_sides(server):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.format(dsn=server.dsn)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert until(lambda: len(copying(server)) == 2, seconds=30)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert out == "interrupted\n"
    assert until(lambda: not copying(server), seconds=30)


def test_a_wrong_password_is_told_as_ever(server):
    wrong = replace(server, dsn=server.dsn.replace("postgres:", "nobody:", 1))
    table = replace(staged(server, "SELECT 1 AS id"), server=wrong)
    with pytest.raises(TargetError) as caught:
        table.pass_rows(PostgresReader(server), "SELECT 1 AS id", lambda _: None)
    assert "password" in str(caught.value) or "does not let" in str(caught.value)


def server_at(address: str) -> Server:
    return Server(dsn=address, address="x", database="x", user="x")


@pytest.mark.parametrize(
    ("address", "understood"),
    [
        ("postgresql://me:a%40b@host:5432/db?sslmode=require&connect_timeout=10", True),
        ("postgresql://me@host/db?sslrootcert=/ca.pem", False),
        ("postgresql://me@host/db?options=-csearch_path%3Dx", False),
        ("postgresql://me@one:1,two:2/db", False),
        ("postgresql:///db?host=/var/run/postgresql", False),
    ],
)
def test_an_address_that_says_more_is_left_to_the_other_driver(address, understood):
    assert can_pass(server_at(address), server_at(address)) is understood
