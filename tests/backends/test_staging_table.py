"""Staging in a table of PostgreSQL: what tasks leave there, and which of it counts. No JVM."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ematix_flow._base.location import Location
from ematix_flow.backends.impl.duckdb.write import DuckdbTarget
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.impl.postgres.staging_table import (
    PostgresLoader,
    PostgresStagingTable,
)
from ematix_flow.backends.impl.postgres.write import PostgresTarget
from ematix_flow.backends.impl.sqlite.write import SqliteTarget
from ematix_flow.connections.model import PostgresConnection
from ematix_flow.errors import ContractError, EngineError, StagingLost, TargetError
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import StagedTable, StagesInTable
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.normalize import parse_date
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.task_failure import TaskFailure, read_task_failure
from ematix_flow.spec.types import UUID, BigInt, Date, Text
from ematix_flow.sqltext.program import write_program
from ematix_flow.write.quarantine import set_aside
from ematix_flow.write.staging import require_clean
from ematix_flow.write.staging_table import _staged, staging_table, sweep_staging_tables
from ematix_flow.write.staging_task import StagingTask
from tests.services.postgres import client

pytestmark = pytest.mark.services

UID = "0b9f6d3e-6a55-4a0e-8a51-4bb2f7f9e111"
LENIENT = parse_date("%Y-%m-%d", on_failure="quarantine")
TABLE = Table(
    name=TableName(name="t"),
    location=Location("x.py", 1),
    columns=(
        Column(name="id", type=BigInt(), primary_key=True),
        Column(name="mail", type=Text(), nullable=True),
        Column(name="uid", type=UUID(), nullable=True),
        Column(name="day", type=Date(), nullable=True, markers=(LENIENT,)),
    ),
)
CONTRACT = Contract.of(TABLE)
QUARANTINED = next(rule.number for rule in CONTRACT.rules if rule.sets_aside)
STOPPING = next(rule.number for rule in CONTRACT.rules if not rule.sets_aside)
SCHEMA = pa.schema(
    [
        *(("id", pa.int64()), ("mail", pa.string()), ("uid", pa.string()), ("day", pa.date32())),
        *((RULE_COLUMN, pa.int32()), (VALUE_COLUMN, pa.string())),
    ]
)


@pytest.fixture
def server(postgres_database, monkeypatch) -> Server:
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    running = postgres_database.server
    return Server.of(
        PostgresConnection(
            name="pg",
            host=running.host,
            port=running.port,
            database=postgres_database.name,
            user=running.facts["user"],
            password=running.facts["password"],
        )
    )


def sql(server: Server, *statements: str) -> list[tuple[object, ...]]:
    with client().connect(server.dsn, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def tables(server: Server) -> list[str]:
    query = (
        "SELECT relname FROM pg_class WHERE relname LIKE '\\_flow%' AND relkind = 'r' ORDER BY 1"
    )
    return [str(name) for (name,) in sql(server, query)]


def batch(*ids: int, rule: int | None = None, value: str | None = None) -> pa.RecordBatch:
    columns = [
        list(ids),
        *([each] * len(ids) for each in ("a@b.de", UID, date(1, 1, 1), rule, value)),
    ]
    arrays = [pa.array(each, field.type) for each, field in zip(columns, SCHEMA, strict=True)]
    return pa.record_batch(arrays, schema=SCHEMA)


def table_of(server: Server, name: str = "_flow_staging_x_1") -> PostgresStagingTable:
    table = PostgresTarget(server).staging_table(name, TABLE)
    table.create()
    return table


def told(table: PostgresStagingTable, folder: Path, *batches: pa.RecordBatch):
    """What one attempt at a task tells the driver."""
    return told_by(table.loader(), folder, *batches)


def told_by(load: PostgresLoader, folder: Path, *batches: pa.RecordBatch):
    aside = frozenset({QUARANTINED})
    task = StagingTask(load=load, set_aside=aside, keys=("id",), folder=str(folder))
    [summary] = pickle.loads(pickle.dumps(task))(iter(batches))
    [row] = summary.to_pylist()
    return type("Row", (), row)


def shown(server: Server, staged: StagedTable) -> list[tuple[object, ...]]:
    with PostgresTarget(server).open() as session:
        session.show_staging(staged, TABLE, "_flow_staging")
        return session.fetch(
            'SELECT id, mail, CAST(uid AS text), day FROM "_flow_staging" ORDER BY 1'
        )


def test_rows_of_tasks_arrive_in_the_targets_types(server, tmp_path):
    table = table_of(server)
    staged = _staged(
        table.name,
        [told(table, tmp_path, batch(1, 2), batch(3)), told(table, tmp_path, batch(4))],
        tmp_path,
    )
    assert staged.rows == 4
    assert len(set(staged.tasks)) == 2
    assert shown(server, staged) == [(n, "a@b.de", UID, date(1, 1, 1)) for n in (1, 2, 3, 4)]
    with PostgresTarget(server).open() as session:
        session.show_staging(staged, TABLE, "_flow_staging")
        [(kind,)] = session.fetch(
            'SELECT CAST(pg_typeof(uid) AS text) FROM "_flow_staging" LIMIT 1'
        )
    assert kind == "uuid"


@pytest.mark.proves("attempts-once")
def test_an_attempt_that_was_repeated_adds_nothing(server, tmp_path):
    table = table_of(server)
    lost, won = (told(table, tmp_path, batch(1, 2)) for _ in range(2))
    assert sql(server, f'SELECT count(*) FROM "{table.name}"') == [(4,)]
    assert lost.task != won.task
    assert [row[0] for row in shown(server, _staged(table.name, [won], tmp_path))] == [1, 2]


@pytest.mark.parametrize(
    "harm",
    [
        'TRUNCATE "{}"',
        'DELETE FROM "{}" WHERE id = 2',
        "INSERT INTO \"{}\" (id, _flow_task) VALUES (9, '{}')",
    ],
)
def test_rows_that_are_lost_or_added_before_the_commit_are_noticed(server, tmp_path, harm):
    table = table_of(server)
    row = told(table, tmp_path, batch(1, 2))
    sql(server, harm.format(table.name, row.task))
    with pytest.raises(StagingLost, match="but 2 were sent to it; nothing was written") as caught:
        shown(server, _staged(table.name, [row], tmp_path))
    assert caught.value.retryable


def test_no_rows_are_staged_too_and_need_no_connection(server, tmp_path):
    table = table_of(server)
    nowhere = Server(dsn="postgresql://nowhere", address="", database="", user="")
    away = replace(table.loader(), server=nowhere)
    rows = [told_by(away, tmp_path), told_by(away, tmp_path, batch())]
    assert shown(server, _staged(table.name, rows, tmp_path)) == []


def test_rows_that_stop_the_load_are_counted_and_named(server, tmp_path):
    table = table_of(server)
    rows = [
        told(table, tmp_path, batch(1), batch(*range(10, 14), rule=STOPPING, value="x"), batch(2)),
        told(table, tmp_path, batch(*range(20, 24), rule=STOPPING, value="y"), batch(3)),
    ]
    staged = _staged(table.name, rows, tmp_path)
    with pytest.raises(ContractError) as caught:
        require_clean(staged, CONTRACT)
    text = str(caught.value)
    assert "8 of 11 rows break the declaration of t; nothing was written" in text
    assert "row id=10: id: 'x' does not fit BigInt without loss" in text
    assert "row id=20: id: 'y' does not fit BigInt without loss" in text
    assert "... and 3 more" in text
    # After the first bad row nothing more was sent.
    assert sql(server, f'SELECT id FROM "{table.name}"') == [(1,)]


@pytest.mark.proves("attempts-once", "on-failure")
def test_rows_set_aside_are_those_of_attempts_that_count(server, tmp_path):
    table = table_of(server)
    bad = batch(7, 8, rule=QUARANTINED, value="nope")
    _, won = (told(table, tmp_path / "aside", batch(1), bad) for _ in range(2))
    staged = _staged(table.name, [won], tmp_path / "aside")
    require_clean(staged, CONTRACT)
    done = set_aside(staged, CONTRACT, tmp_path / "q.parquet")
    assert (staged.rows, done.rows, done.staged.rows) == (3, 2, 1)
    found = pq.read_table(tmp_path / "q.parquet").to_pylist()
    assert [(row["id"], row["_flow_column"], row["_flow_value"]) for row in found] == [
        (7, "day", "nope"),
        (8, "day", "nope"),
    ]
    assert [row[0] for row in shown(server, done.staged)] == [1]


def test_rows_set_aside_on_another_disk_are_missed(server, tmp_path):
    table = table_of(server)
    row = told(table, tmp_path / "theirs", batch(7, rule=QUARANTINED))
    with pytest.raises(EngineError, match="which is not there; nothing was written"):
        _staged(table.name, [row], tmp_path / "ours")


@pytest.mark.proves("nothing-half-written")
def test_a_task_that_fails_leaves_nothing_and_tells_the_driver_why(server, tmp_path):
    table = table_of(server)
    many = [batch(*range(n * 1000, n * 1000 + 1000)) for n in range(20)]
    columns = {**many[-1].to_pydict(), "mail": ["nul \0"] * 1000}
    with pytest.raises(TaskFailure) as caught:
        told(table, tmp_path, *many, pa.RecordBatch.from_pydict(columns, schema=SCHEMA))
    error = read_task_failure(f"org.apache.spark.SparkException\n{caught.value}\n\tat java.lang")
    assert isinstance(error, ContractError)
    assert "mail holds a NUL character" in error.what
    assert sql(server, f'SELECT count(*) FROM "{table.name}"') == [(0,)]


def test_what_is_wrong_with_the_rows_is_not_lost_in_the_driver(server):
    table = table_of(server)

    def rows():
        yield batch(1)
        raise ZeroDivisionError("while the rows were computed")

    task = StagingTask(load=table.loader(), set_aside=frozenset(), keys=("id",), folder="")
    with pytest.raises(ZeroDivisionError, match="while the rows were computed"):
        list(task(rows()))
    assert sql(server, f'SELECT count(*) FROM "{table.name}"') == [(0,)]


@pytest.mark.proves("no-secret")
def test_nothing_that_travels_shows_the_password(server):
    table = PostgresTarget(server).staging_table("s", TABLE)
    task = StagingTask(load=table.loader(), set_aside=frozenset(), keys=(), folder="")
    password = server.dsn.split(":")[2].partition("@")[0]
    assert len(password) > 8
    assert password not in repr(task) + repr(table)


@pytest.mark.proves("sweep-own")
def test_a_run_sweeps_what_its_own_pipeline_left_and_nobody_else(server):
    target = PostgresTarget(server)
    layout = Layout(table=TABLE, mode=Mode.APPEND, given=TABLE.column_names)
    program = write_program(layout, TABLE.name, target.dialect, pipeline="mine")
    step = Commit(connection="out", target=TABLE.name, layout=layout, program=program)
    of = {"name": TABLE.name, "run_id": "0199-a"}
    with staging_table(target, TABLE, pipeline="mine", **of) as left:
        name = left.name
    assert tables(server) == []
    sql(server, f'CREATE TABLE "{name}" (a int)', f'CREATE TABLE "{name}2" (a int)')
    with staging_table(target, TABLE, pipeline="other", **of) as others:
        sweep_staging_tables(target, "mine", step)
        with staging_table(target, TABLE, pipeline="mine", **{**of, "run_id": "0199-b"}) as mine:
            assert tables(server) == sorted([others.name, mine.name])
        assert tables(server) == [others.name]
    assert tables(server) == []


@pytest.mark.proves("sweep-own")
def test_what_somebody_still_uses_is_left_for_the_next_run(server):
    sweep = partial(PostgresTarget(server).sweep_staging, ("_flow_staging_x_",), "shown")
    left = table_of(server)
    with client().connect(server.dsn) as busy:
        busy.execute(f'LOCK TABLE "{left.name}" IN ROW EXCLUSIVE MODE')
        sweep()
        table_of(server, "_flow_staging_x_2")
        assert tables(server) == ["_flow_staging_x_1", "_flow_staging_x_2"]
    sweep()
    table_of(server, "_flow_staging_x_3")
    assert tables(server) == ["_flow_staging_x_3"]


def test_a_pipeline_of_any_name_has_a_name_for_its_table(server):
    long = "p" * 200
    run_id = "0190f0aa-1234-7abc-8def-0123456789ab"
    with staging_table(
        PostgresTarget(server), TABLE, pipeline=long, name=TABLE.name, run_id=run_id
    ) as table:
        assert tables(server) == [table.name]


def test_staging_that_cannot_be_created_is_an_error_of_the_target(server):
    sql(
        server,
        "CREATE ROLE staging_reader LOGIN PASSWORD 'reading-only'",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    )
    try:
        login = server.dsn.partition("@")[2]
        poor = Server(
            dsn=f"postgresql://staging_reader:reading-only@{login}",
            address=server.address,
            database=server.database,
            user="staging_reader",
        )
        with pytest.raises(TargetError, match="'staging_reader' is not allowed to"):
            PostgresTarget(poor).staging_table("s", TABLE).create()
    finally:
        sql(server, "DROP ROLE staging_reader")


def test_a_target_says_by_its_kind_whether_it_takes_tables(server, tmp_path):
    assert isinstance(PostgresTarget(server), StagesInTable)
    assert not isinstance(SqliteTarget(tmp_path / "none.db"), StagesInTable)
    assert not isinstance(DuckdbTarget(tmp_path / "none.db"), StagesInTable)
