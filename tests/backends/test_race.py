"""Many starts of one pipeline at once, as processes of their own: one runs, the others are refused.

Spark is stood in for: what reaches it has won. So none of the losers can have started a JVM.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from ematix_flow.errors import PipelineBusy
from tests.backends.places import Places
from tests.backends.without_spark import loading_without_spark
from tests.services.polling import until

STARTS = 20

# Forked when everything is imported, so that they really start together.
START = """
import json, os, sys, time
from multiprocessing import get_context
from pathlib import Path
from ematix_flow.api import Flow
from ematix_flow.api.engines import Engines
from ematix_flow.errors import FlowError

folders, starts, done = sys.argv[1:-2], int(sys.argv[-2]), Path(sys.argv[-1])

class Reached(Exception):
    pass

def engine(self, plan):
    def opener():
        (done / f"reached-{os.getpid()}").touch()
        # The lease is held until every other start has been told so.
        while len(list(done.glob("refused-*"))) < starts - 1:
            time.sleep(0.01)
        raise FlowError("no engine here")
    return opener

Engines.opener = engine
flows = [Flow.open(folder) for folder in folders]

def start(number, barrier):
    flow = flows[number % len(flows)]
    barrier.wait()
    try:
        flow.run("load_orders")
    except FlowError as error:
        name = "refused" if type(error).__name__ == "PipelineBusy" else "ended"
        (done / f"{name}-{number}").write_text(f"{type(error).__name__}: {error}")

context = get_context("fork")
barrier = context.Barrier(starts)
processes = [context.Process(target=start, args=(n, barrier)) for n in range(starts)]
for process in processes:
    process.start()
for process in processes:
    process.join(60)
    if process.is_alive():
        process.kill()
"""

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


def declare(places: Places, make_project, kind: str, options: str = ""):
    """Two projects with the same pipeline into the same database."""
    out = places.declare("out", kind)
    if kind in ("sqlite", "duckdb"):
        out = out.replace('path = "out.db"', f'path = "{places.project.path}/out.db"')
    projects = [places.project, make_project("another")]
    for each in projects:
        each.declare(ORDERS.format(out=out, options=options))
        each.csv("orders", ("order_id", "customer"), [("1", "ada"), ("2", "grace")])
    return projects


def environ(places: Places) -> dict[str, str]:
    return {**os.environ, **places.environ()}


@pytest.mark.proves("one-lease")
def test_of_twenty_starts_at_once_one_runs_and_the_others_are_refused(
    places, make_project, between_kind, tmp_path
):
    projects = declare(places, make_project, between_kind)
    done = tmp_path / "done"
    done.mkdir()
    folders = [str(each.path) for each in projects]
    ran = subprocess.run(
        [sys.executable, "-c", START, *folders, str(STARTS), str(done)],
        env=environ(places),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    names = [each.name.partition("-")[0] for each in done.iterdir()]
    told = [each.read_text() for each in done.glob("*-*")]
    counts = {name: names.count(name) for name in ("reached", "refused", "ended")}
    assert counts == {"reached": 1, "refused": STARTS - 1, "ended": 1}, (told, ran.stderr)
    for text in (each.read_text() for each in done.glob("refused-*")):
        assert "pipeline 'load_orders' is already running" in text
        assert "Hint: wait for that run to end" in text
    # Refusals are no runs, and nothing is left that would refuse the next one.
    assert sum(len(each.flow(environ=environ(places)).runs()) for each in projects) == 1
    if between_kind in ("sqlite", "duckdb"):
        assert [each.name for each in places.project.path.glob("out.db*")] == ["out.db"]


# A runner that waits before its commit for as long as it is told.
PAUSED = """
import json, os, sys, time
from pathlib import Path
from ematix_flow.api import Flow
from ematix_flow.api.engines import Engines
from ematix_flow.errors import FlowError
from ematix_flow.observe.events import StepStarted
from tests.backends.without_spark import loading_without_spark

folder, marks = Path(sys.argv[1]), Path(sys.argv[2])

def observe(event):
    if isinstance(event, StepStarted) and event.step == "commit":
        (marks / "committing").touch()
        while not (marks / "go").exists():
            time.sleep(0.01)

with loading_without_spark():
    try:
        Flow.open(folder, observer=observe).run("load_orders")
    except FlowError as error:
        (marks / "told").write_text(f"{type(error).__name__}: {error}")
"""


@contextmanager
def paused_before_its_commit(project, marks, seen):
    """A runner that stands still, its heartbeat too; afterwards it has gone on, and ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", PAUSED, str(project.path), str(marks)],
        env=seen,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert until(lambda: _is_committing(process, marks), seconds=60)
            process.send_signal(signal.SIGSTOP)
            yield
            (marks / "go").touch()
            process.send_signal(signal.SIGCONT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (marks / "told").exists(), errors


def assert_lost(project, marks, places, seen):
    """Another has committed, and the runner that was paused could not."""
    told = (marks / "told").read_text()
    assert told.startswith("FenceLost: another run of 'load_orders' took over")
    rows = places.rows("out", "SELECT order_id, customer FROM orders ORDER BY 1")
    assert rows == [(1, "ada"), (2, "grace")]
    [lost] = project.flow(environ=seen).runs()
    assert (lost.status, lost.error["type"]) == ("failed", "FenceLost")


@pytest.mark.proves("lost-lease")
@pytest.mark.services
@pytest.mark.parametrize("kind", ["postgres", "mysql"])
def test_a_runner_paused_past_its_lease_cannot_commit(places, make_project, tmp_path, kind):
    paused, other = declare(places, make_project, kind, ', lease_ttl="1s"')
    seen = environ(places)
    with paused_before_its_commit(paused, tmp_path, seen), loading_without_spark():
        flow = other.flow(environ=seen)
        # After a second without a heartbeat the lease is over.
        assert until(lambda: _taken_over(flow), seconds=30)
    assert_lost(paused, tmp_path, places, seen)


@pytest.mark.proves("lost-lease", "one-lease")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_paused_runner_keeps_its_file_and_without_the_lock_cannot_commit(
    places, make_project, tmp_path, kind
):
    """The lock is the process's own, whatever the time; but a file can be removed by anybody."""
    paused, other = declare(places, make_project, kind)
    seen = environ(places)
    with paused_before_its_commit(paused, tmp_path, seen), loading_without_spark():
        flow = other.flow(environ=seen)
        with pytest.raises(PipelineBusy, match="'load_orders' is already running"):
            flow.run("load_orders")
        [lock] = places.project.path.glob("out.db.*lock")
        lock.unlink()
        assert flow.run("load_orders").rows.inserted == 2
    assert_lost(paused, tmp_path, places, seen)


def _is_committing(process, marks):
    assert process.poll() is None, "it ended before its commit"
    return (marks / "committing").exists()


def _taken_over(flow):
    try:
        return flow.run("load_orders").rows.inserted == 2
    except PipelineBusy:
        return False


@pytest.mark.proves("one-lease")
@pytest.mark.services
def test_after_a_crash_the_same_project_runs_at_once(places, make_project, tmp_path):
    """The lease of the dead would last a day, and nobody waits for it."""
    crashed, other = declare(places, make_project, "postgres", ', lease_ttl="1d"')
    seen = environ(places)
    process = subprocess.Popen(
        [sys.executable, "-c", PAUSED, str(crashed.path), str(tmp_path)], env=seen
    )
    with process:
        assert until(lambda: _is_committing(process, tmp_path), seconds=60)
        process.kill()
    with loading_without_spark():
        with pytest.raises(PipelineBusy, match="its lease lasts until"):
            other.flow(environ=seen).run("load_orders")
        done = crashed.flow(environ=seen).run("load_orders")
    assert (done.status, done.attempt, done.rows.inserted) == ("succeeded", 2, 2)
    assert json.loads(json.dumps(done.to_json()))["targets"][0]["target"] == "orders"
