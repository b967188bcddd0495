"""What can be asked of a pipeline beside a run: backfills, replays, dry runs, several targets.

Everything but Spark's part is real: databases, leases, ledger, run log.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ematix_flow.engine.batch import loading
from ematix_flow.engine.runs.backfill import ChunkStatus
from ematix_flow.errors import FlowError, PlanError, TargetError, UnknownName, UsageError
from ematix_flow.observe.events import StepStarted
from ematix_flow.record.run import Purpose, RunStatus
from tests.backends.without_spark import loading_without_spark, numbered

ORDERS = """
@ematix.connection
class landing:
    kind = "csv"
    path = "data"
{out}
@ematix.table
class Orders:
    order_id: Annotated[BigInt, pk()]
    customer: String[8]

@ematix.pipeline(target=Orders, mode="append", source_connection="landing",
                 target_connection="out"{options})
def load_orders():
    return "SELECT order_id, customer FROM orders"
"""
ROOT = Path(__file__).parents[2]
INCREMENTAL = ', incremental_column="order_id"'
ROWS = "SELECT order_id FROM orders ORDER BY order_id"


@pytest.fixture
def shop(places, between_kind):
    """A project that loads orders, by number, into each kind of database."""
    project = places.project
    project.declare(ORDERS.format(out=places.declare("out", between_kind), options=INCREMENTAL))
    project.csv("orders", ("order_id", "customer"), [("1", "ada")])
    return places


def flow(places):
    return places.project.flow(environ=places.environ())


def numbers(places):
    return [row[0] for row in places.rows("out", ROWS)]


@pytest.mark.proves("strictly-after")
def test_a_run_goes_on_from_the_watermark_and_says_so(shop):
    with loading_without_spark(numbered(1, 2, 3)):
        first = flow(shop).run("load_orders")
    assert (first.window, first.watermark) == ((None, None), "integer 3")
    with loading_without_spark(numbered(1, 2, 3, 4)):
        second = flow(shop).run("load_orders")
    assert (second.window, second.rows.inserted) == (("> integer 3", None), 1)
    assert (second.watermark, second.path) == ("integer 4", "spark")
    assert numbers(shop) == [1, 2, 3, 4]
    assert flow(shop).runs()[0] == second


@pytest.mark.proves("backfill")
def test_a_backfill_loads_by_chunks_and_leaves_the_watermark(shop):
    with loading_without_spark(numbered(*range(10, 20))):
        flow(shop).run("load_orders")
    with loading_without_spark(numbered(*range(1, 20))):
        done = flow(shop).backfill("load_orders", 1, 9, chunk=4)
        assert [(each.window, each.rows.inserted) for each in done.chunks] == [
            ((">= integer 1", "< integer 5"), 4),
            ((">= integer 5", "< integer 9"), 4),
        ]
        # What is there already is not added again, though the mode is append.
        again = flow(shop).backfill("load_orders", 1, 13)
        assert [(each.rows.inserted, each.rows.unchanged) for each in again.chunks] == [(1, 11)]
        next_run = flow(shop).run("load_orders")
    assert (next_run.window, next_run.rows.inserted) == (("> integer 19", None), 0)
    assert numbers(shop) == list(range(1, 20))
    assert {run.purpose for run in flow(shop).runs()} == {Purpose.RUN, Purpose.BACKFILL}


@pytest.mark.proves("backfill")
def test_a_backfill_beyond_the_watermark_moves_it_where_no_gap_is_left(shop):
    with loading_without_spark(numbered(1, 2, 3)):
        flow(shop).run("load_orders")
    with loading_without_spark(numbered(*range(1, 30))):
        with pytest.raises(PlanError, match="has not come as far as 20"):
            flow(shop).backfill("load_orders", 20, 25)
        flow(shop).backfill("load_orders", 3, 10, chunk=4)
        assert flow(shop).plan("load_orders").window.ends == ("> integer 9", None)
        flow(shop).run("load_orders")
    assert numbers(shop) == list(range(1, 30))


CRASH = """
import os, signal, sys
from ematix_flow.api import Flow
from ematix_flow.observe.events import StepEnded, StepStarted
from tests.backends.without_spark import loading_without_spark, numbered

seen = 0

def observe(event):
    global seen
    if type(event).__name__ == sys.argv[1] and event.step == "commit":
        seen += 1
        if seen == 2:
            os.kill(os.getpid(), signal.SIGKILL)

with loading_without_spark(numbered(*range(1, 10))):
    Flow.open(".", observer=observe).backfill("load_orders", "1", "10", chunk="3")
"""


@pytest.mark.proves("backfill", "crash-anywhere", "adopt-open-run")
@pytest.mark.parametrize(
    ("event", "landed"), [("StepStarted", [1, 2, 3]), ("StepEnded", [1, 2, 3, 4, 5, 6])]
)
def test_a_killed_backfill_goes_on_with_the_first_chunk_that_did_not_land(shop, event, landed):
    died = subprocess.run(
        [sys.executable, "-c", CRASH, event],
        cwd=shop.project.path,
        env={**os.environ, **shop.environ(), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert died.returncode == -9, died.stderr
    assert numbers(shop) == landed
    with loading_without_spark(numbered(*range(1, 10))):
        done = flow(shop).backfill("load_orders", "1", "10", chunk="3")
    second = ChunkStatus.LOADED if len(landed) == 3 else ChunkStatus.SKIPPED
    assert done.resumed
    assert [each.status for each in done.chunks] == [
        *(ChunkStatus.SKIPPED, second, ChunkStatus.LOADED)
    ]
    assert numbers(shop) == list(range(1, 10))
    assert {run.status for run in flow(shop).runs()} == {RunStatus.SUCCEEDED}
    # It has ended now, so the same order is a new one.
    with loading_without_spark(numbered(*range(1, 10))):
        assert not flow(shop).backfill("load_orders", "1", "10", chunk="3").resumed
    assert numbers(shop) == list(range(1, 10))


def failing_at(bad):
    good = numbered(*range(1, 10))

    def rows(window):
        chosen = good(window)
        if any(row["order_id"] == bad for row in chosen):
            raise FlowError("the source is broken there")
        return chosen

    return rows


@pytest.fixture
def small_shop(places):
    project = places.project
    project.declare(ORDERS.format(out=places.declare("out", "sqlite"), options=INCREMENTAL))
    project.csv("orders", ("order_id", "customer"), [("1", "ada")])
    return places


@pytest.mark.proves("backfill")
@pytest.mark.parametrize(
    ("mode", "keep_going", "statuses"),
    [
        ("merge", False, "loaded failed waiting"),
        ("merge", True, "loaded failed loaded"),
        # The next run reads from the end of the first chunk, and would append the third again.
        ("append", True, "loaded failed waiting"),
    ],
)
def test_a_failed_chunk_stops_the_rest_or_not(small_shop, mode, keep_going, statuses):
    module = small_shop.project.path / "pipelines.py"
    module.write_text(module.read_text().replace('mode="append"', f'mode="{mode}"'))
    with loading_without_spark(failing_at(5)):
        done = flow(small_shop).backfill("load_orders", 1, 10, chunk=3, keep_going=keep_going)
    assert [each.status.value for each in done.chunks] == statuses.split()
    assert (done.status, str(done.error)) == (RunStatus.FAILED, "the source is broken there")
    with loading_without_spark(numbered(*range(1, 10))):
        again = flow(small_shop).backfill("load_orders", 1, 10, chunk=3)
        assert again.resumed
        assert again.status is RunStatus.SUCCEEDED
        assert numbers(small_shop) == list(range(1, 10))
        flow(small_shop).run("load_orders")
    assert numbers(small_shop) == list(range(1, 10))


@pytest.mark.proves("backfill")
def test_chunks_of_what_is_there_are_loaded_though_one_failed(small_shop):
    with loading_without_spark(numbered(*range(1, 20))):
        flow(small_shop).run("load_orders")
    with loading_without_spark(failing_at(5)):
        done = flow(small_shop).backfill("load_orders", 1, 10, chunk=3, keep_going=True)
    assert [each.status.value for each in done.chunks] == ["loaded", "failed", "loaded"]


def test_a_plain_run_does_not_take_over_a_backfill_that_died(small_shop):
    died = subprocess.run(
        [sys.executable, "-c", CRASH, "StepStarted"],
        cwd=small_shop.project.path,
        env={**os.environ, **small_shop.environ(), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert died.returncode == -9
    with loading_without_spark(numbered(*range(20, 23))):
        done = flow(small_shop).run("load_orders")
    assert (done.purpose, done.attempt, done.rows.inserted) == (Purpose.RUN, 1, 3)
    dead = next(run for run in flow(small_shop).runs() if run.status is RunStatus.FAILED)
    assert dead.purpose is Purpose.BACKFILL
    assert dead.error["type"] == "PresumedFailed"


@pytest.mark.proves("replay")
def test_a_replay_reads_the_same_window_again_as_another_run(shop):
    with loading_without_spark(numbered(1, 2)):
        flow(shop).run("load_orders")
    with loading_without_spark(numbered(1, 2, 3, 4)):
        second = flow(shop).run("load_orders")
    with loading_without_spark(numbered(*range(1, 9))):
        replay = flow(shop).replay(second.run_id)
    assert replay.window == ("> integer 2", "<= integer 4")
    assert (replay.purpose, replay.replay_of) == (Purpose.REPLAY, second.run_id)
    assert replay.run_id != second.run_id
    assert (replay.rows.read, replay.rows.inserted, replay.rows.unchanged) == (2, 0, 2)
    assert numbers(shop) == [1, 2, 3, 4]


def test_a_replay_of_nothing_known(small_shop):
    with pytest.raises(UnknownName, match="no run 'nope' on record"):
        flow(small_shop).replay("nope")


@pytest.mark.parametrize(
    ("start", "end", "chunk", "told"),
    [
        ("9", "1", None, "does not lie before"),
        ("1", "1", None, "does not lie before"),
        ("1", "9", "2d", "takes a number above zero, not '2d'"),
        ("1", "9", "0", "takes a number above zero"),
        ("2026-01-01", "2026-02-01", "7", "takes a duration such as"),
        ("2026-01-01", "7", "1d", "is date, and --to '7' is integer"),
        ("1", "90000000", "1", "more than 100,000 chunks"),
    ],
)
def test_a_range_that_makes_no_sense(small_shop, start, end, chunk, told):
    with pytest.raises(UsageError, match=told):
        flow(small_shop).backfill("load_orders", start, end, chunk=chunk)


def test_a_pipeline_without_an_incremental_column_has_no_past(places):
    places.project.declare(ORDERS.format(out=places.declare("out", "sqlite"), options=""))
    places.project.csv("orders", ("order_id", "customer"), [("1", "ada")])
    with pytest.raises(FlowError, match="no incremental_column"):
        flow(places).backfill("load_orders", 1, 9)


def state(places, kind):
    """Everything that the database holds."""
    file = places.project.path / "out.db"
    if kind == "sqlite":
        return hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else None
    if kind == "duckdb" and not file.exists():
        return None
    here = "database()" if kind == "mysql" else "current_schema()"
    tables = places.rows(
        "out",
        f"SELECT table_name FROM information_schema.tables WHERE table_schema = {here} "
        "AND table_name <> '_flow_fence' ORDER BY 1",
    )
    return [(name, sorted(places.rows("out", f"SELECT * FROM {name}"))) for (name,) in tables]


@pytest.mark.proves("preview-dry-run")
def test_a_dry_run_counts_and_leaves_everything_as_it_was(shop, between_kind):
    before = state(shop, between_kind)
    with loading_without_spark(numbered(1, 2, 3)):
        first = flow(shop).dry_run("load_orders")
    assert (first.rows.inserted, first.targets[0].target) == (3, "orders")
    assert state(shop, between_kind) == before
    with loading_without_spark(numbered(1, 2)):
        flow(shop).run("load_orders")
    before = state(shop, between_kind)
    with loading_without_spark(numbered(1, 2, 3)):
        second = flow(shop).dry_run("load_orders")
    assert (second.purpose, second.rows.read, second.rows.inserted) == (Purpose.DRY_RUN, 1, 1)
    assert second.window == ("> integer 2", None)
    assert state(shop, between_kind) == before
    assert [run.purpose for run in flow(shop).runs()] == [Purpose.RUN]
    assert flow(shop).plan("load_orders").window.ends == ("> integer 2", None)


@pytest.mark.proves("failed-keeps-watermark", "watermark-in-commit", "nothing-half-written")
@pytest.mark.parametrize(
    ("rows", "told"),
    [(failing_at(4), "the source is broken there"), (numbered(3, 3, 4), "already")],
    ids=["source", "commit"],
)
def test_a_run_that_failed_leaves_the_watermark_and_the_next_reads_its_window(shop, rows, told):
    with loading_without_spark(numbered(1, 2)):
        flow(shop).run("load_orders")
    with loading_without_spark(rows), pytest.raises(FlowError, match=told):
        flow(shop).run("load_orders")
    failed = flow(shop).runs()[0]
    assert (failed.status, failed.window) == (RunStatus.FAILED, ("> integer 2", None))
    assert numbers(shop) == [1, 2]
    assert flow(shop).plan("load_orders").window.ends == failed.window
    with loading_without_spark(numbered(*range(1, 10))):
        again = flow(shop).run("load_orders")
    assert (again.window, again.rows.inserted) == (failed.window, 7)
    assert numbers(shop) == list(range(1, 10))
    assert flow(shop).plan("load_orders").window.ends == ("> integer 9", None)


TWO = """
@ematix.connection
class landing:
    kind = "csv"
    path = "data"

@ematix.connection
class out:
    kind = "sqlite"
    path = "out.db"

@ematix.connection
class copy:
    kind = "duckdb"
    path = "copy.db"

@ematix.table
class Orders:
    order_id: Annotated[BigInt, pk()]
    customer: String[8]

@ematix.pipeline(targets=[ematix.target(Orders, connection="out"),
                          ematix.target(Orders, connection="copy")],
                 source_connection="landing"{options})
def load_orders():
    return "SELECT order_id, customer FROM orders"
"""


@pytest.fixture
def two(project):
    project.declare(TWO.format(options=', incremental_column="order_id"'))
    project.csv("orders", ("order_id", "customer"), [("1", "ada")])
    return project


def held(project, database):
    return [row[0] for row in project.rows(database, ROWS)]


@pytest.mark.proves("several-targets")
def test_several_targets_have_their_own_commit_and_outcome(two):
    with loading_without_spark(numbered(1, 2)):
        done = two.flow().run("load_orders")
    assert [(each.connection, each.status, each.rows.inserted) for each in done.targets] == [
        ("out", RunStatus.SUCCEEDED, 2),
        ("copy", RunStatus.SUCCEEDED, 2),
    ]
    assert (done.rows.read, done.rows.inserted) == (2, 4)
    assert held(two, "out.db") == held(two, "copy.db") == [1, 2]
    assert two.flow().runs() == [done]


@pytest.mark.proves("several-targets", "failed-keeps-watermark")
@pytest.mark.parametrize("goes_on", [False, True])
def test_one_target_that_fails_undoes_no_other(two, goes_on, monkeypatch):
    if goes_on:
        two.declare(TWO.format(options=', incremental_column="order_id", continue_on_failure=True'))
    real = loading.commit

    def broken(step, *arguments):
        if step.connection == "out":
            raise TargetError("the disk is full")
        return real(step, *arguments)

    monkeypatch.setattr(loading, "commit", broken)
    with loading_without_spark(numbered(1, 2)), pytest.raises(TargetError, match="disk is full"):
        two.flow().run("load_orders")
    [failed] = two.flow().runs()
    assert failed.status is RunStatus.FAILED
    statuses = {each.connection: each.status.value for each in failed.targets}
    if not goes_on:
        assert statuses == {"out": "failed"}
        return
    assert statuses == {"out": "failed", "copy": "succeeded"}
    assert held(two, "copy.db") == [1, 2]
    monkeypatch.undo()
    # The same run again: it reads what it had read, and only for the target that lacks it.
    with loading_without_spark(numbered(1, 2, 3)):
        again = two.flow().run("load_orders")
    assert (again.run_id, again.attempt, again.status) == (failed.run_id, 2, RunStatus.SUCCEEDED)
    assert {each.connection: each.rows.inserted for each in again.targets} == {"out": 2, "copy": 2}
    with loading_without_spark(numbered(1, 2, 3)):
        two.flow().run("load_orders")
    assert held(two, "out.db") == held(two, "copy.db") == [1, 2, 3]


@pytest.mark.proves("failed-keeps-watermark", "adopt-open-run")
def test_an_adopted_run_keeps_its_window_and_its_time(small_shop):
    crash = CRASH.replace("seen == 2", "seen == 1").replace(
        '.backfill("load_orders", "1", "10", chunk="3")', '.run("load_orders")'
    )
    with loading_without_spark(numbered(1, 2)):
        flow(small_shop).run("load_orders")
    died = subprocess.run(
        [sys.executable, "-c", crash, "StepStarted"],
        cwd=small_shop.project.path,
        env={**os.environ, **small_shop.environ(), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert died.returncode == -9, died.stderr
    [dead, _] = flow(small_shop).runs()
    assert (dead.status, dead.window) == (RunStatus.RUNNING, ("> integer 2", None))
    with loading_without_spark(numbered(*range(1, 10))):
        done = flow(small_shop).run("load_orders")
    assert (done.run_id, done.started_at, done.window) == (
        dead.run_id,
        dead.started_at,
        dead.window,
    )
    assert numbers(small_shop) == list(range(1, 10))


@pytest.mark.proves("several-targets", "append-once")
@pytest.mark.parametrize("step", ["stage", "commit"])
def test_interrupted_between_two_targets_only_the_other_is_loaded_later(project, step):
    """Without a key: a row that is loaded twice is there twice."""
    project.declare(TWO.format(options="").replace("Annotated[BigInt, pk()]", "BigInt"))
    project.csv("orders", ("order_id", "customer"), [("1", "ada")])
    seen = []

    def interrupt(event):
        if isinstance(event, StepStarted) and event.step == step:
            seen.append(event)
            if len(seen) == 2:
                raise KeyboardInterrupt

    with loading_without_spark():
        with pytest.raises(KeyboardInterrupt):
            project.flow(observer=interrupt).run("load_orders")
        [run] = project.flow().runs()
        assert [each.status.value for each in run.targets] == ["succeeded", "failed"]
        project.flow().run("load_orders")
    assert held(project, "out.db") == [1, 2]
    assert held(project, "copy.db") == [1, 2]
