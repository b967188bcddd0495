"""What can go wrong while PostgreSQL takes a load: a clear error each, and nothing half-written.

No JVM: the task and the session are called as Spark and the commit call them.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.write import PostgresTarget
from ematix_flow.connections.model import PostgresConnection
from ematix_flow.errors import (
    ContractError,
    DatabaseBusy,
    FlowError,
    TargetError,
    TargetUnreachable,
)
from ematix_flow.ports import StagedTable
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.task_failure import TaskFailure, read_task_failure
from ematix_flow.spec.types import BigInt, Text
from ematix_flow.write.staging_task import StagingTask
from tests.services.absence import absent
from tests.services.home import Home
from tests.services.polling import until
from tests.services.postgres import Postgres, client

pytestmark = pytest.mark.services

TABLE = Table(
    name=TableName(name="t"),
    location=Location("x.py", 1),
    columns=(
        Column(name="id", type=BigInt(), primary_key=True),
        Column(name="words", type=Text(), nullable=True),
    ),
)
SCHEMA = pa.schema(
    [
        *(("id", pa.int64()), ("words", pa.string())),
        *((RULE_COLUMN, pa.int32()), (VALUE_COLUMN, pa.string())),
    ]
)
INSERT = 'INSERT INTO t (id, words) SELECT id, words FROM "_flow_staging"'


@pytest.fixture(autouse=True)
def _passwords_may_be_written_out(monkeypatch):
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")


@pytest.fixture
def server(postgres_database) -> Server:
    found = server_of(postgres_database.dsn)
    sql(
        found, "CREATE TABLE t (id bigint PRIMARY KEY, words text)", "INSERT INTO t VALUES (0, 'a')"
    )
    return found


def server_of(dsn: str) -> Server:
    return Server.of(PostgresConnection.from_config("pg", {"kind": "postgres", "url": dsn}))


def sql(server: Server, *statements: str) -> list[tuple[object, ...]]:
    with client().connect(server.dsn, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def batch(*rows: tuple[int | None, str | None]) -> pa.RecordBatch:
    columns = [[row[0] for row in rows], [row[1] for row in rows], *([[None] * len(rows)] * 2)]
    arrays = [pa.array(each, field.type) for each, field in zip(columns, SCHEMA, strict=True)]
    return pa.record_batch(arrays, schema=SCHEMA)


@contextmanager
def staged(server: Server, *batches: pa.RecordBatch) -> Iterator[StagedTable]:
    """Rows that a task has staged; what it raises is read as the driver reads it."""
    table = PostgresTarget(server).staging_table("_flow_staging_x_1", TABLE)
    table.create()
    try:
        yield stage(table, iter(batches))
    finally:
        table.drop()


def stage(table, batches: Iterator[pa.RecordBatch]) -> StagedTable:
    task = StagingTask(load=table.loader(), set_aside=frozenset(), keys=("id",), folder="")
    try:
        [[row]] = [each.to_pylist() for each in task(batches)]
    except TaskFailure as failure:
        error = read_task_failure(f"Job aborted ...\n{failure}\n\tat org.apache.spark")
        assert error is not None
        raise error from failure
    return StagedTable(name=table.name, tasks=(row["task"],), rows=row["rows"])


def load(server: Server, *batches: pa.RecordBatch) -> None:
    with staged(server, *batches) as rows, PostgresTarget(server).open() as session:
        session.show_staging(rows, TABLE, "_flow_staging")
        with session.transaction():
            session.execute(INSERT)


@contextmanager
def refused(server: Server, kind: type[FlowError], *words: str, retryable: bool) -> Iterator[None]:
    """What is raised says this, the target is as it was, and no staging is left."""
    before = sql(server, "TABLE t")
    with pytest.raises(kind) as caught:
        yield
    assert type(caught.value) is kind
    for each in words:
        assert each in str(caught.value)
    assert caught.value.retryable is retryable
    assert server.dsn.split(":")[2].partition("@")[0] not in str(caught.value)
    assert sql(server, "TABLE t") == before
    left = "SELECT relname FROM pg_class WHERE relname LIKE '\\_flow\\_staging%'"
    assert sql(server, left) == []


@contextmanager
def role(server: Server, *grants: str) -> Iterator[Server]:
    """Another user of the database."""
    sql(server, "CREATE ROLE loader LOGIN PASSWORD 'loads-only'")
    try:
        sql(server, "GRANT CREATE ON SCHEMA public TO loader", *grants)
        yield server_of(f"postgresql://loader:loads-only@{server.dsn.partition('@')[2]}")
    finally:
        sql(server, "DROP OWNED BY loader", "DROP ROLE loader")


@pytest.mark.proves("bad-database", "retryable", "nothing-half-written")
def test_a_table_of_another_role(server):
    with (
        role(server) as poor,
        refused(server, TargetError, "'loader' is not allowed to", "table t", retryable=False),
    ):
        load(poor, batch((1, "a")))


@pytest.mark.proves("bad-database", "retryable", "nothing-half-written")
def test_a_connection_that_is_cut_in_the_middle_of_the_copy(server):
    backend = "FROM pg_stat_activity WHERE query LIKE 'COPY %' AND datname = current_database()"

    def rows() -> Iterator[pa.RecordBatch]:
        yield batch(*((number, "a" * 100) for number in range(1000)))
        assert until(lambda: bool(sql(server, f"SELECT pid {backend}")), seconds=30)
        sql(server, f"SELECT pg_terminate_backend(pid, 5000) {backend}")
        for _ in range(20):
            yield batch(*((number, "a" * 100) for number in range(10_000)))

    table = PostgresTarget(server).staging_table("_flow_staging_x_1", TABLE)
    table.create()
    with refused(server, TargetUnreachable, "ended the connection", retryable=True):
        try:
            stage(table, rows())
        finally:
            assert sql(server, f'SELECT count(*) FROM "{table.name}"') == [(0,)]
            table.drop()


@pytest.mark.proves("bad-database", "retryable", "nothing-half-written")
def test_a_connection_that_is_cut_in_the_middle_of_the_commit(server):
    target = PostgresTarget(server)

    def commit() -> None:
        with staged(server, batch((1, "a"))) as rows, target.open() as session:
            session.show_staging(rows, TABLE, "_flow_staging")
            with session.transaction():
                session.execute(INSERT)
                [(pid,)] = session.fetch("SELECT pg_backend_pid()")
                sql(server, f"SELECT pg_terminate_backend({pid}, 5000)")
                session.execute("DELETE FROM t")

    with refused(server, TargetUnreachable, "ended the connection", retryable=True):
        commit()


@pytest.mark.proves("bad-database", "retryable", "nothing-half-written")
def test_a_deadlock(server):
    sql(server, "INSERT INTO t VALUES (1, 'a')")
    update = "UPDATE t SET words = 'b' WHERE id = "

    def commit() -> None:
        with client().connect(server.dsn) as other, PostgresTarget(server).open() as session:
            # The other one waits longer, so that it is us whom PostgreSQL ends.
            other.execute("SET deadlock_timeout = '60s'")
            other.execute(f"{update} 0")
            waits = threading.Thread(target=other.execute, args=(f"{update} 1",))
            try:
                with session.transaction():
                    session.execute(f"{update} 1")
                    waits.start()
                    assert until(lambda: bool(sql(server, _WAITING)), seconds=30)
                    session.execute(f"{update} 0")
            finally:
                waits.join(timeout=30)
                other.rollback()

    with refused(server, DatabaseBusy, "deadlock detected", "Hint: run again", retryable=True):
        commit()


_WAITING = """
SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
"""


@pytest.mark.proves("bad-database", "retryable", "nothing-half-written")
def test_a_statement_that_takes_too_long(server):
    sql(server, f"ALTER DATABASE \"{server.database}\" SET statement_timeout = '200ms'")

    given_up = """
    SELECT 1 FROM pg_stat_activity
    WHERE query LIKE 'COPY %' AND state LIKE 'idle%' AND datname = current_database()
    """

    def rows() -> Iterator[pa.RecordBatch]:
        # A task sends all it has; it learns at the end that the server has stopped listening.
        while not sql(server, given_up):
            yield batch(*((number, "a" * 1000) for number in range(1000)))

    table = PostgresTarget(server).staging_table("_flow_staging_x_1", TABLE)
    table.create()
    with refused(
        server, TargetError, "gave up", "statement timeout", "statement_timeout", retryable=False
    ):
        try:
            stage(table, rows())
        finally:
            table.drop()


@pytest.mark.proves("bad-database", "values-refused", "nothing-half-written")
def test_a_character_that_the_encoding_of_the_database_has_not(server):
    name = f"{server.database}_latin1"
    make = f"CREATE DATABASE \"{name}\" ENCODING LATIN1 LOCALE 'C' TEMPLATE template0"
    sql(server, make)
    try:
        latin = server_of(server.dsn.replace(server.database, name).partition("?")[0])
        sql(latin, "CREATE TABLE t (id bigint PRIMARY KEY, words text)")
        with refused(
            latin, ContractError, "words holds text", "row id=2", "LATIN1", "UTF8", retryable=False
        ):
            load(latin, batch((1, "zwölf"), (2, "10 €")))
        load(latin, batch((1, "zwölf")))
        # Stored as one character of one byte, not as the bytes of UTF-8.
        assert sql(latin, "SELECT words, octet_length(words) FROM t") == [("zwölf", 5)]
    finally:
        sql(server, f'DROP DATABASE "{name}" WITH (FORCE)')


def test_a_database_that_knows_no_encoding_keeps_what_it_is_given(server):
    name = f"{server.database}_ascii"
    sql(server, f"CREATE DATABASE \"{name}\" ENCODING SQL_ASCII LOCALE 'C' TEMPLATE template0")
    try:
        plain = server_of(server.dsn.replace(server.database, name).partition("?")[0])
        sql(plain, "CREATE TABLE t (id bigint PRIMARY KEY, words text)")
        load(plain, batch((1, "10 €")))
        with PostgresTarget(plain).open_read_only() as session:
            assert session.fetch("SELECT words, octet_length(words) FROM t") == [("10 €", 6)]
    finally:
        sql(server, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.mark.proves("bad-database", "nothing-half-written")
def test_a_key_that_is_too_long_for_its_index(server):
    sql(server, "ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (words)")
    noise = random.Random(1).randbytes(4000).hex()
    with refused(server, TargetError, "cannot hold a row", "t_pkey", "Hint: ", retryable=False):
        load(server, batch((1, "b"), (2, noise)))


@pytest.mark.proves("bad-database", "nothing-half-written")
def test_a_number_that_the_column_does_not_hold(server):
    sql(server, "ALTER TABLE t ALTER id TYPE smallint")
    with refused(server, TargetError, "smallint out of range", "flow plan", retryable=False):
        load(server, batch((1, "a"), (70_000, "b")))


@pytest.mark.proves("bad-database", "nothing-half-written")
def test_text_that_the_column_does_not_hold_is_not_cut(server):
    sql(server, "ALTER TABLE t ALTER words TYPE varchar(3)")
    with refused(server, TargetError, "too long for type character varying(3)", retryable=False):
        load(server, batch((1, "a"), (2, "abcd")))


@pytest.mark.proves("null-in-not-null")
def test_a_key_that_is_null(server):
    with refused(server, TargetError, 'null value in column "id"', "(null, b)", retryable=False):
        load(server, batch((1, "a"), (None, "b")))


def test_a_key_that_is_there(server):
    with refused(server, TargetError, "Key (id)=(0) already exists", retryable=False):
        load(server, batch((1, "a"), (0, "b")))


@contextmanager
def tiny_disk(megabytes: int) -> Iterator[Path]:
    """A file system of its own for the server; skip where this process may not make one."""
    folder = Path(tempfile.mkdtemp(prefix="tiny-disk-"))
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700"]
    try:
        mounted = subprocess.run(
            ["mount", *options, "tmpfs", str(folder)], capture_output=True, check=False, text=True
        )
    except FileNotFoundError:
        mounted = None
    if mounted is None or mounted.returncode:
        folder.rmdir()
        absent("no file system can be mounted here: " + (mounted.stderr if mounted else ""))
    try:
        account = Postgres(Home.from_environment()).account()
        if account is not None:
            os.chown(folder, account.uid, account.gid)
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.proves("bad-database", "retryable", "nothing-half-written")
def test_a_disk_that_is_full(server):
    with tiny_disk(4) as folder:
        sql(server, f"CREATE TABLESPACE tiny LOCATION '{folder}'")
        try:
            sql(server, f'ALTER DATABASE "{server.database}" SET default_tablespace = tiny')
            much = [batch(*((n, "a" * 1000) for n in range(1000))) for _ in range(10)]
            with refused(
                server, TargetError, "no space left", "default_tablespace", retryable=False
            ):
                load(server, *much)
            load(server, batch((1, "a")))
        finally:
            sql(server, f'ALTER DATABASE "{server.database}" RESET default_tablespace')
            sql(server, "DROP TABLESPACE tiny")
