"""The commit, from the driver on pre-staged rows: no JVM, real databases."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ematix_flow._base.location import Location
from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import Connection
from ematix_flow.errors import ContractError, DriftError, FenceLost, TargetError
from ematix_flow.plan.diff import compare
from ematix_flow.plan.drift import DriftDecision, resolve_drift
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import StagedFiles
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.modes import Mode, OnDrift
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import (
    DATA_TYPES,
    UUID,
    Array,
    BigInt,
    Double,
    Numeric,
    String,
    Struct,
    Text,
)
from ematix_flow.sqltext.bookkeeping import Bookkeeping
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.sqltext.program import write_program
from ematix_flow.write.commit import Attempt, commit
from ematix_flow.write.fence import take_fence
from ematix_flow.write.ledger import write_entry
from ematix_flow.write.staging import StagingArea, require_clean
from tests.services.postgres import client

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TABLE = Table(
    name=TableName(name="t"),
    location=Location("x.py", 1),
    columns=(
        Column(name="id", type=BigInt(), primary_key=True),
        Column(name="name", type=Text(), nullable=True),
        Column(name="score", type=Double(), nullable=True),
    ),
)
SCHEMA = pa.schema(
    [
        *(("id", pa.int64()), ("name", pa.string()), ("score", pa.float64())),
        *((RULE_COLUMN, pa.int32()), (VALUE_COLUMN, pa.string())),
    ]
)


@pytest.fixture
def target(config, tmp_path):
    return target_of(config, tmp_path)


def target_of(config, folder):
    connection = Connection.from_config("out", config, base=folder)
    return backends()[connection.kind].target(connection)


def staged(tmp_path, rows, name="part-0.parquet"):
    columns = list(zip(*rows, strict=True)) or [[]] * 5
    table = pa.table(
        [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )
    pq.write_table(table, tmp_path / name)
    return StagedFiles(files=(tmp_path / name,), rows=len(rows))


def good(*ids):
    return [(number, f"n{number}", number / 2, None, None) for number in ids]


def prepared(target):
    with target.open() as session:
        for statement in (
            create_table(TABLE, TABLE.name, target.dialect),
            *Bookkeeping(target.dialect).create,
        ):
            session.execute(statement)
        return take_fence(session, Bookkeeping(target.dialect), "p")


def step(target, mode=Mode.APPEND):
    # The rows alone: what flow keeps beside them is looked at in test_modes.
    layout = Layout(table=TABLE, mode=mode, given=TABLE.column_names)
    program = write_program(layout, TABLE.name, target.dialect, pipeline="p")
    return Commit(connection="out", target=TABLE.name, layout=layout, program=program)


def load(target, rows, *, run_id="r1", mode=Mode.APPEND, token=None):
    token = prepared(target) if token is None else token
    attempt = Attempt(pipeline="p", run_id=run_id, token=token, now=NOW, read=rows.rows)
    with target.open() as session:
        return commit(step(target, mode), session, target.dialect, rows, attempt)


def ids(target):
    with target.open() as session:
        return [row[0] for row in session.fetch("SELECT id FROM t ORDER BY id")]


@pytest.mark.proves("append-once")
def test_append_adds_and_a_replay_adds_nothing(target, tmp_path):
    rows = staged(tmp_path, good(1, 2))
    done = load(target, rows)
    assert done.rows.inserted == 2
    assert load(target, rows) == done
    assert ids(target) == [1, 2]
    assert load(target, staged(tmp_path, good(3)), run_id="r2").rows.inserted == 1
    assert ids(target) == [1, 2, 3]


@pytest.mark.proves("exact-counts")
def test_truncate_replaces_and_counts(target, tmp_path):
    load(target, staged(tmp_path, good(1, 2)))
    done = load(target, staged(tmp_path, good(7)), run_id="r2", mode=Mode.TRUNCATE)
    assert (done.rows.inserted, done.rows.deleted) == (1, 2)
    assert ids(target) == [7]


def test_no_rows_are_a_commit_too(target, tmp_path):
    load(target, staged(tmp_path, good(1)))
    done = load(target, staged(tmp_path, []), run_id="r2", mode=Mode.TRUNCATE)
    assert (done.rows.inserted, done.rows.deleted) == (0, 1)
    assert ids(target) == []


@pytest.mark.proves("truncate-atomic", "one-transaction", "nothing-half-written")
def test_a_failure_leaves_the_old_rows_and_the_old_ledger(target, tmp_path):
    load(target, staged(tmp_path, good(1, 2)))
    with pytest.raises(TargetError, match="already"):
        load(target, staged(tmp_path, good(5, 5)), run_id="r2", mode=Mode.TRUNCATE)
    assert ids(target) == [1, 2]
    with target.open() as session:
        [[run]] = session.fetch("SELECT run_id FROM _flow_ledger")
    assert run == "r1"


@pytest.mark.proves("lost-lease")
def test_a_runner_that_lost_its_fence_cannot_commit(target, tmp_path):
    stale = prepared(target)
    prepared(target)
    with pytest.raises(FenceLost, match="another run of 'p' took over"):
        load(target, staged(tmp_path, good(1)), token=stale)
    assert ids(target) == []


@pytest.mark.proves("exact-counts", "nothing-half-written")
def test_rows_that_a_trigger_swallows_are_noticed(tmp_path):
    target = target_of({"kind": "sqlite", "path": "out.db"}, tmp_path)
    token = prepared(target)
    with target.open() as session:
        session.execute(
            'CREATE TRIGGER half BEFORE INSERT ON "t" WHEN NEW.id % 2 '
            "BEGIN SELECT RAISE(IGNORE); END"
        )
    with pytest.raises(TargetError, match="took 1 rows, but 2 were staged"):
        load(target, staged(tmp_path, good(1, 2)), token=token)
    assert ids(target) == []


@pytest.mark.proves("values-refused")
def test_nan_is_refused_where_it_would_become_null(tmp_path):
    target = target_of({"kind": "sqlite", "path": "out.db"}, tmp_path)
    rows = staged(tmp_path, [(1, "a", 0.5, None, None), (2, "b", float("nan"), None, None)])
    with pytest.raises(ContractError, match=r"score is NaN.*row id=2"):
        load(target, rows)
    assert ids(target) == []


@pytest.mark.proves("type-table")
def test_a_table_that_we_created_is_no_drift(target):
    nested = (Array(Text()), Struct(("a", Text()), ('b "c"', Array(Struct(("d", UUID()))))))
    sized = (String(3), Numeric(20, 4))
    plain = {*DATA_TYPES} - {type(kind) for kind in (*nested, *sized)}
    kinds = [*(kind() for kind in plain), *sized, *(nested if target.dialect != "sqlite" else ())]
    columns = [Column(name=f"C{n}", type=kind, nullable=n > 2) for n, kind in enumerate(kinds)]
    # A key is NOT NULL in the table, even if it is declared nullable.
    columns.append(Column(name="id", type=BigInt(), primary_key=True, nullable=True))
    declared = Table(name=TableName(name="t"), location=TABLE.location, columns=tuple(columns))
    with target.open() as session:
        session.execute(create_table(declared, declared.name, target.dialect))
        found = session.columns(declared.name)
    assert found is not None

    def resolved(wanted):
        diff = compare(wanted, found, target.dialect)
        return resolve_drift(diff, OnDrift.ERROR, wanted.location, wanted.name)

    assert resolved(declared) == DriftDecision()
    unkeyed = tuple(replace(column, primary_key=False) for column in columns)
    with pytest.raises(DriftError, match="primary key is \\(id\\), but none is declared"):
        resolved(replace(declared, columns=unkeyed))


@contextmanager
def counting(target):
    """Another connection that counts the rows; for DuckDB in this process, as no other may."""
    match target.dialect:
        case "mariadb":
            with target.open_read_only() as session:
                yield lambda: session.fetch("SELECT count(*) FROM t")[0][0]
            return
        case "sqlite":
            opened = sqlite3.connect(target.path, timeout=30, check_same_thread=False)
        case "duckdb":
            opened = duckdb.connect(str(target.path))
        case _:
            opened = client().connect(target.server.dsn, autocommit=True)
    with closing(opened):
        yield lambda: opened.execute("SELECT count(*) FROM t").fetchone()[0]


@pytest.mark.proves("truncate-atomic", "reader-sees-whole")
def test_a_reader_inside_the_commit_sees_the_old_rows(target, tmp_path, monkeypatch):
    load(target, staged(tmp_path, good(1, 2)))
    token = prepared(target)
    seen = []
    with counting(target) as count:

        def look_then_write(*arguments, **options):
            seen.append(count())
            return write_entry(*arguments, **options)

        monkeypatch.setattr("ematix_flow.write.commit.write_entry", look_then_write)
        rows = staged(tmp_path, good(7, 8, 9))
        load(target, rows, run_id="r2", mode=Mode.TRUNCATE, token=token)
        assert seen == [2]
        assert count() == 3


@pytest.mark.proves("truncate-atomic", "reader-sees-whole")
def test_no_reader_ever_sees_an_empty_table(target, tmp_path):
    rows = staged(tmp_path, good(*range(1000)))
    load(target, rows)
    token = prepared(target)
    done = threading.Event()
    seen = []

    def read(count):
        while not done.is_set():
            seen.append(count())

    with counting(target) as count, ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read, count)
        try:
            for number in range(10):
                load(target, rows, run_id=f"n{number}", mode=Mode.TRUNCATE, token=token)
        finally:
            done.set()
        reader.result(timeout=60)
    assert len(seen) > 10
    assert set(seen) == {1000}


CRASH = """
import json, os, signal, sys
from ematix_flow.write import commit as module
from tests.backends.test_commit import *

point, folder = sys.argv[1:]
target = target_of(json.loads(os.environ["CONFIG"]), Path(folder))
rows = StagedFiles(files=(Path(folder) / "part-0.parquet",), rows=2)

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

if point == "fence":
    module.hold_fence = die
elif point == "ledger":
    module.write_entry = die
elif point == "inside":
    original = module.write_entry
    module.write_entry = lambda *a, **k: (original(*a, **k), die())
done = load(target, rows)
die()
"""


@pytest.mark.proves("append-once", "one-transaction", "crash-anywhere")
@pytest.mark.parametrize("point", ["fence", "ledger", "inside", "after"])
def test_kill_at_every_point_of_the_commit_then_again_gives_one_run(tmp_path, config, point):
    staged(tmp_path, good(1, 2))
    died = subprocess.run(
        [sys.executable, "-c", "from pathlib import Path\n" + CRASH, point, str(tmp_path)],
        env={**os.environ, "CONFIG": json.dumps(config)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert died.returncode == -9, died.stderr
    target = target_of(config, tmp_path)
    assert ids(target) == ([1, 2] if point == "after" else [])
    load(target, StagedFiles(files=(tmp_path / "part-0.parquet",), rows=2))
    assert ids(target) == [1, 2]


def test_bad_rows_are_named_by_key_and_counted(tmp_path):
    contract = Contract.of(TABLE)
    rows = [*good(1), *((n, None, None, 1, f"v{n}") for n in range(10, 18))]
    with pytest.raises(ContractError) as caught:
        require_clean(staged(tmp_path, rows), contract)
    text = str(caught.value)
    assert "8 of 9 rows break the declaration of t; nothing was written" in text
    assert "row id=10: id: 'v10' does not fit BigInt without loss" in text
    assert "... and 3 more" in text
    assert "Hint: " in text


def test_good_rows_pass_on_the_footer_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("pyarrow.dataset.dataset", None)
    require_clean(staged(tmp_path, good(1, 2)), Contract.of(TABLE))


@pytest.mark.proves("sweep-own")
def test_sweeping_removes_what_earlier_runs_left(tmp_path):
    area = StagingArea(tmp_path / "p")
    assert area.sweep() == 0
    (area.of_run("old") / "rows").mkdir(parents=True)
    assert area.sweep() == 1
    assert not area.of_run("old").exists()
