"""PostgreSQL's driver below the usual Python face of it: quick to import, quick to end."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal

import adbc_driver_manager
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ematix_flow.backends.impl.postgres.adbc import Connection
from ematix_flow.backends.impl.postgres.failures import diagnosis
from ematix_flow.backends.impl.postgres.parameters import bound
from ematix_flow.backends.impl.postgres.read import PostgresReader
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.write import PostgresTarget
from tests.backends.test_postgres import rows_of, run, server_of
from tests.services.polling import until

pytestmark = pytest.mark.services

# Rows that fill a batch of the driver come first, then none for as long as anybody waits.
STALLING = """SELECT repeat('x', 1000) FROM generate_series(1, 100000)
UNION ALL SELECT pg_sleep(600)::text"""


@pytest.fixture
def server(postgres_database, monkeypatch) -> Server:
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    return server_of(postgres_database)


@pytest.fixture
def database(server):
    with closing(Connection(server.dsn, built_in=True)) as opened:
        yield opened


def python(server: Server, script: str) -> subprocess.Popen[str]:
    """Run *script* in a process of its own, with `database` as an open connection."""
    opening = f"""
import signal, sys
from ematix_flow.backends.impl.postgres.adbc import Connection
# Whoever started the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
database = Connection({server.dsn!r}, built_in=False)
"""
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", opening + script], stdout=pipe, text=True)


def sleeping(server: Server) -> list[tuple[object, ...]]:
    asleep = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = '{}'"
    return rows_of(server, asleep.format(server.database))


def test_it_loads_neither_pandas_nor_polars(server):
    script = """
import pyarrow as pa
from ematix_flow.backends.impl.postgres.database import fetch
with database.cursor() as cursor:
    rows = pa.RecordBatchReader.from_batches(pa.schema([("id", pa.int64())]), iter(()))
    cursor.adbc_ingest("there", rows, mode="create")
assert fetch(database, "SELECT count(*), ?, 1.5 FROM there", ("text",)) == [(0, "text", "1.5")]
print([name for name in ("pandas", "polars", "pyarrow.dataset") if name in sys.modules])
"""
    with python(server, script) as process:
        assert process.communicate(timeout=60)[0] == "[]\n"
    assert process.returncode == 0


@pytest.mark.parametrize(
    "work",
    [
        "cursor.execute('SELECT pg_sleep(600)')",
        f"cursor.execute('''{STALLING}''')\n    for batch in cursor.fetch_record_batch(): pass",
        f"cursor.execute('''{STALLING}''')\n    cursor.fetchall()",
    ],
    ids=["execute", "stream", "fetchall"],
)
def test_an_interrupt_ends_the_query_here_and_at_the_server(server, work):
    script = f"""
with database.cursor() as cursor:
  try:
    {work}
  except KeyboardInterrupt:
    print("interrupted")
"""
    with python(server, script) as process:
        assert until(lambda: bool(sleeping(server)), seconds=60)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert sleeping(server) == []


def test_another_thread_can_end_the_query(server, database):
    caught: list[str | None] = []

    def sleep() -> None:
        with database.cursor() as cursor:
            try:
                cursor.execute("SELECT pg_sleep(600)")
                cursor.fetchall()
            except adbc_driver_manager.Error as error:
                caught.append(diagnosis(error).get("SQLSTATE"))

    thread = threading.Thread(target=sleep)
    thread.start()
    assert until(lambda: bool(sleeping(server)), seconds=60)
    database.cancel()
    thread.join(timeout=60)
    assert caught == ["57014"]


def test_an_error_among_the_rows_keeps_its_state(database):
    with database.cursor() as cursor:
        cursor.execute(
            "SELECT repeat('x', 1000), 1 / (i - 90000) FROM generate_series(1, 100000) i"
        )
        with pytest.raises(adbc_driver_manager.DataError) as caught:
            list(cursor.fetch_record_batch())
    assert diagnosis(caught.value)["SQLSTATE"] == "22012"


def test_closing_ends_what_is_still_open(server):
    database = Connection(server.dsn, built_in=True)
    cursor = database.cursor()
    cursor.execute("SELECT repeat('x', 1000) FROM generate_series(1, 100000)")
    next(iter(cursor.fetch_record_batch()))
    database.close()
    cursor.close()
    left = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{server.database}'"
    assert until(lambda: rows_of(server, left) == [(1,)], seconds=60)


def test_one_statement_after_another(database):
    with database.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE t AS SELECT 1 AS a")
        assert cursor.rowcount == 1
        cursor.execute("UPDATE t SET a = 2")
        assert cursor.rowcount == 1
        cursor.execute("SELECT repeat('x', 1000) FROM generate_series(1, 100000)")
        cursor.execute("SELECT a FROM t WHERE a = $1", (2,))
        assert cursor.fetchall() == [(2,)]


def test_a_source_knows_the_types_that_were_made_a_moment_ago(server):
    with PostgresTarget(server).open_read_only():
        run(server, "CREATE TYPE mood AS ENUM ('fine')", "CREATE TABLE m AS SELECT 'fine'::mood a")
    with PostgresTarget(server).open_read_only():
        pass
    [column] = PostgresReader(server).describe("SELECT a FROM m")
    assert column.type == "mood"


# The first call imports pandas.
@settings(deadline=None)
@given(st.lists(st.text() | st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=1))
@example([True, 1.5, Decimal("1.50"), b"\x00", datetime(2026, 1, 1, tzinfo=UTC)])
@example(["", "\U0001f600", -(2**63), 2**63 - 1])
def test_parameters_are_bound_as_arrow_would_take_them(values):
    names = [str(number) for number in range(len(values))]
    row = bound(values)
    row.validate(full=True)
    assert row.equals(pa.record_batch([[value] for value in values], names=names))
