"""`kill -9` before every statement of a commit, and after the last; then the run again.

Rows and ledger must be those of a clean run, and nobody may ever see anything in between. Each
crash is a process of its own, forked from a server that has everything imported.
"""

import multiprocessing
import os
import signal
import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest

from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import Connection
from ematix_flow.spec.modes import HandleDeletes, Mode
from ematix_flow.spec.pipeline import WriteOptions
from ematix_flow.spec.table import TableName
from tests.backends.mode_bench import DAY, NOW, TABLE, Bench, event, row

CASES = {
    "append": (WriteOptions(mode=Mode.APPEND), "rows"),
    "truncate": (WriteOptions(mode=Mode.TRUNCATE), "rows"),
    "merge": (WriteOptions(mode=Mode.MERGE, handle_deletes=HandleDeletes.HARD), "rows"),
    "scd1": (
        WriteOptions(mode=Mode.SCD1, sequence_by=("at",), apply_as_deletes="op = 'D'"),
        "events",
    ),
    "scd2": (WriteOptions(mode=Mode.SCD2, handle_deletes=HandleDeletes.HARD), "rows"),
    "scd2_events": (
        WriteOptions(mode=Mode.SCD2, event_timestamp_column="at", apply_as_deletes="op = 'D'"),
        "events",
    ),
}
FIRST = {
    "rows": [row(str(n), x="old", n=n) for n in range(6)],
    "events": [event(str(n), 2, "old", n=n) for n in range(6)],
}
SECOND = {
    "rows": [row(str(n), x="new" if n % 2 else "old", n=n) for n in range(1, 8)],
    "events": [
        *(event(str(n), 3 - n % 3, "new", n=n) for n in range(1, 8)),
        event("0", 4, deleted=True),
    ],
}


class Deadly:
    """A session that kills its process before statement number *at*; with None it only counts."""

    def __init__(self, session, at):
        self._session, self._at, self.count = session, at, 0

    def __getattr__(self, name):
        return getattr(self._session, name)

    def step(self):
        if self.count == self._at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1

    def execute(self, *arguments):
        self.step()
        return self._session.execute(*arguments)

    def show_staging(self, *arguments):
        self.step()
        self._session.show_staging(*arguments)

    @contextmanager
    def transaction(self):
        with self._session.transaction():
            yield
            self.step()  # everything is done, nothing is committed
        self.step()


class DeadlyTarget:
    def __init__(self, target, at):
        self._target, self._at, self.session = target, at, None

    def __getattr__(self, name):
        return getattr(self._target, name)

    @contextmanager
    def open(self):
        with self._target.open() as session:
            self.session = Deadly(session, self._at)
            yield self.session


def bench_of(config, folder, case, name):
    connection = Connection.from_config("out", config, base=folder)
    target = backends()[connection.kind].target(connection)
    table = replace(TABLE, name=TableName(name=name), columns=columns_of(case))
    return Bench(target, folder, table, CASES[case][0])


def columns_of(case):
    if case != "append":
        return TABLE.columns
    return tuple(replace(column, primary_key=False) for column in TABLE.columns)


def second_day(config, folder, case, name, at):
    """The second day's run, which dies before statement *at*; returns how many there are."""
    table = bench_of(config, folder, case, name)
    token = table.take_token()
    deadly = table.target = DeadlyTarget(table.target, at)
    rows = SECOND[CASES[case][1]]
    table.load(rows, run_id=f"{name}-2", token=token, now=NOW + DAY, consent=True)
    return deadly.session.count


@pytest.fixture(scope="module")
def forks():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.backends.test_mode_crashes", "pyarrow.parquet"])
    return context


def crashed(forks, *arguments):
    process = forks.Process(target=second_day, args=arguments)
    process.start()
    process.join(60)
    return process.exitcode


@contextmanager
def watched(table, seen):
    """Another connection looks at the table all the while; DuckDB lets no other process in."""
    done = threading.Event()

    def look():
        while not done.is_set():
            seen.add(tuple(content(table)))

    thread = threading.Thread(target=look)
    if table.target.dialect != "duckdb":
        thread.start()
    yield
    done.set()
    if table.target.dialect != "duckdb":
        thread.join()


def content(table):
    """The rows, without when and by which run they were written."""
    history = ("valid_from", "valid_to", "is_current") if table.layout.history else ()
    names = (*table.layout.given, *history)
    return [tuple(map(str, found)) for found in table.rows(*names)]


def ledger(table):
    with table.target.open_read_only() as session:
        [[count]] = session.fetch(
            f"SELECT count(*) FROM _flow_ledger WHERE run_id LIKE '{table.table.name.name}-%'"
        )
    return count


def points(statements):
    """Before which statements to die: in the soak all; else some, and around the commit."""
    if "EMATIX_FLOW_SOAK" in os.environ:
        return range(statements)
    thirds = {statements // 3, 2 * statements // 3}
    return sorted({0, *thirds, statements - 3, statements - 2, statements - 1})


@pytest.mark.proves("one-transaction", "crash-anywhere", "reader-sees-whole")
@pytest.mark.parametrize("case", CASES)
def test_killed_anywhere_a_rerun_gives_the_rows_of_one_run(
    case, config, tmp_path, forks, monkeypatch
):
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    kind = CASES[case][1]
    clean = bench_of(config, tmp_path, case, "clean")
    clean.load(FIRST[kind], run_id="clean-1")
    before = content(clean)
    statements = second_day(config, tmp_path, case, "clean", None)
    after = content(clean)
    assert before != after
    assert statements > 5

    for at in points(statements):
        name = f"t{at}"
        table = bench_of(config, tmp_path, case, name)
        table.load(FIRST[kind], run_id=f"{name}-1")
        seen = set()
        with watched(table, seen):
            assert crashed(forks, config, tmp_path, case, name, at) == -signal.SIGKILL
            assert content(table) in (before, after)
            second_day(config, tmp_path, case, name, None)
        assert content(table) == after, f"killed before statement {at} of {statements}"
        assert ledger(table) == 2
        assert seen <= {tuple(before), tuple(after)}
