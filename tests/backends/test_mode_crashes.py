"""`kill -9` before statements of a commit, and after the last; then the run again.

Rows, companion and ledger must be those of a clean run, and nobody may ever see anything in
between. Each crash is a process of its own, forked from a server that has everything imported.
"""

import os
import signal
import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest

from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import Connection
from ematix_flow.spec.layout import CURSOR
from ematix_flow.spec.modes import HandleDeletes, Mode
from ematix_flow.spec.pipeline import WriteOptions
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.program.grammar import Grammar
from tests.backends.mode_bench import DAY, NOW, TABLE, Bench, event, row
from tests.backends.stepping import SteppingTarget

CASES = {
    "append": (WriteOptions(mode=Mode.APPEND), "rows"),
    "truncate": (WriteOptions(mode=Mode.TRUNCATE), "rows"),
    "merge": (WriteOptions(mode=Mode.MERGE, handle_deletes=HandleDeletes.HARD), "rows"),
    "scd1": (
        WriteOptions(mode=Mode.SCD1, sequence_by=("at",), apply_as_deletes="op = 'D'"),
        "events",
    ),
    "scd2": (WriteOptions(mode=Mode.SCD2, handle_deletes=HandleDeletes.HARD), "rows"),
    "scd2_ttl": (WriteOptions(mode=Mode.SCD2, ttl=DAY / 2), "rows"),
    "scd2_events": (
        WriteOptions(mode=Mode.SCD2, event_timestamp_column="at", apply_as_deletes="op = 'D'"),
        "events",
    ),
}


def read_from(first, rows):
    """The rows as an incremental load reads them."""
    return [
        {**each, CURSOR: f"integer:{10**19 + number:020d}"}
        for number, each in enumerate(rows, start=first)
    ]


FIRST = {
    "rows": read_from(1, [row(str(n), x="old", n=n) for n in range(6)]),
    "events": read_from(1, [event(str(n), 2, "old", n=n) for n in range(6)]),
}
SECOND = {
    "rows": read_from(7, [row(str(n), x="new" if n % 2 else "old", n=n) for n in range(1, 8)]),
    "events": read_from(
        7,
        [
            *(event(str(n), 3 - n % 3, "new", n=n) for n in range(1, 8)),
            event("0", 4, deleted=True),
        ],
    ),
}


def bench_of(config, folder, case, name):
    connection = Connection.from_config("out", config, base=folder)
    target = backends()[connection.kind].target(connection)
    table = replace(TABLE, name=TableName(name=name), columns=columns_of(case))
    bench = Bench(target, folder, table, CASES[case][0])
    bench.layout = replace(bench.layout, has_cursor=True)
    return bench


def columns_of(case):
    if case != "append":
        return TABLE.columns
    return tuple(replace(column, primary_key=False) for column in TABLE.columns)


def first_day(config, folder, case, name):
    table = bench_of(config, folder, case, name)
    table.load(FIRST[CASES[case][1]], run_id=f"{name}-1")
    return table


def second_day(config, folder, case, name, step=lambda _: None):
    """The second day's run; *step* may step in. Returns the target, which counted the steps."""
    table = bench_of(config, folder, case, name)
    token = table.take_token()
    stepping = table.target = SteppingTarget(table.target, step)
    table.load(
        SECOND[CASES[case][1]],
        run_id=f"{name}-2",
        token=token,
        now=NOW + DAY,
        window=("> integer 6", None),
        consent=True,
    )
    return stepping


def second_day_until(config, folder, case, name, at):
    """The second day's run, which dies at step *at*."""

    def step(number):
        if number == at:
            os.kill(os.getpid(), signal.SIGKILL)

    second_day(config, folder, case, name, step)


def crashed(forks, *arguments):
    process = forks.Process(target=second_day_until, args=arguments)
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

    if table.target.dialect == "duckdb":
        yield
        return
    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def content(table):
    """The rows, whatever they are called that wrote them."""
    return [shown(found, table) for found in table.rows(*table.layout.table.column_names)]


def state(table):
    """Everything that a load leaves: the rows, what is kept beside them, and the ledger."""
    remembered, ledger = table.remembered(), table.ledger()
    return content(table), *([shown(each, table) for each in of] for of in (remembered, ledger))


def shown(found, table):
    return tuple(str(value).replace(f"{table.table.name}-", "day ") for value in found)


def days(config, folder, case):
    """What is there after one day and after two, and the steps in between."""
    table = first_day(config, folder, case, "clean")
    before = state(table)
    steps = second_day(config, folder, case, "clean")
    after = state(table)
    assert before[0] != after[0]
    assert [len(each[2]) for each in (before, after)] == [1, 2]
    assert any(entry[4] == "> integer 6" for entry in after[2])
    assert steps.done_at > 5
    return before, after, steps


def points(steps):
    """At which steps to die: in the soak at all; else at some, and around the commit."""
    done = steps.done_at
    if "EMATIX_FLOW_SOAK" in os.environ:
        return range(done + 2)
    return sorted({0, done // 3, 2 * done // 3, done - 1, done, done + 1})


KILLED = [
    pytest.param(case, marks=pytest.mark.proves("ttl")) if options.ttl else case
    for case, (options, _) in CASES.items()
]


@pytest.mark.proves("one-transaction", "crash-anywhere", "watermark-in-commit", "reader-sees-whole")
@pytest.mark.parametrize("case", KILLED)
def test_killed_anywhere_a_rerun_gives_the_rows_of_one_run(
    case, config, tmp_path, forks, monkeypatch
):
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    before, after, steps = days(config, tmp_path, case)
    for at in points(steps):
        name = f"t{at}"
        table = first_day(config, tmp_path, case, name)
        seen = set()
        with watched(table, seen):
            assert crashed(forks, config, tmp_path, case, name, at) == -signal.SIGKILL
            # Rows, companion and ledger together: all of the day, or nothing of it.
            assert state(table) == (after if at > steps.done_at else before)
            second_day(config, tmp_path, case, name)
        assert state(table) == after, f"killed at step {at} of {steps.count}"
        assert seen <= {tuple(before[0]), tuple(after[0])}


class Broken(Exception):
    """What went wrong."""


def breaking(at):
    def step(number):
        if number == at:
            raise Broken

    return step


@pytest.mark.proves("one-transaction", "watermark-in-commit", "nothing-half-written")
@pytest.mark.parametrize("case", CASES)
def test_a_commit_that_fails_anywhere_leaves_everything_as_it_was(case, any_config, tmp_path):
    before, after, steps = days(any_config, tmp_path, case)
    table = first_day(any_config, tmp_path, case, "t")
    for at in points(steps):
        with pytest.raises(Broken):
            second_day(any_config, tmp_path, case, "t", breaking(at))
        assert state(table) == (after if at > steps.done_at else before), f"failed at step {at}"
    second_day(any_config, tmp_path, case, "t")
    assert state(table) == after


@pytest.mark.proves("reader-sees-whole", "one-transaction")
@pytest.mark.parametrize("case", CASES)
def test_a_reader_sees_the_old_rows_at_every_step_of_a_commit(case, any_config, tmp_path):
    """In this process, so that DuckDB lets it in; nothing is left to who comes first."""
    before, after, steps = days(any_config, tmp_path, case)
    table = first_day(any_config, tmp_path, case, "t")
    seen = []
    with looking_at(table) as look:
        second_day(any_config, tmp_path, case, "t", lambda _: seen.append(look()))
        committed = steps.done_at + 1
        assert seen == [before[0]] * committed + [after[0]] * (steps.count - committed)
        assert look() == after[0]


@contextmanager
def looking_at(table):
    """The rows as another connection sees them."""
    grammar = Grammar(table.target.dialect)
    names = grammar.names(table.layout.table.column_names)
    query = f"SELECT {names} FROM {grammar.table(table.table.name)}"
    with table.target.open() as session:
        yield lambda: [shown(each, table) for each in sorted(session.fetch(query), key=repr)]
