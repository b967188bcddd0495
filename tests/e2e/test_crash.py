"""kill -9 at the steps of a real run, then again: exactly the rows of one run."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ematix_flow._base.redact import register_secret
from ematix_flow.observe.events import StepEnded
from ematix_flow.record.run import RunStatus
from tests.e2e.test_runs import LOADED, ROWS
from tests.services.polling import until

# Runs the pipeline as a user would, and kills itself when a given event passes by.
CRASH = """
import os, signal, sys
from ematix_flow.api import Flow

event_type, step = sys.argv[1:]

def observe(event):
    if type(event).__name__ == event_type and event.step == step:
        os.kill(os.getpid(), signal.SIGKILL)

Flow.open(".", observer=observe).run("load_orders")
"""


def crash(project, event_type, step):
    process = subprocess.Popen(
        [sys.executable, "-c", CRASH, event_type, step],
        cwd=project.path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    _, errors = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL, errors.decode()


@pytest.mark.proves("crash-anywhere", "sweep-own")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_killed_between_staging_and_commit(project, kind):
    project.with_orders(kind)
    crash(project, "StepStarted", "commit")
    staged = list(
        (project.path / ".ematix-flow" / "staging" / "load_orders").glob("*/rows/*.parquet")
    )
    assert staged, "the crash left no staging, so it proves nothing"
    assert project.rows("out.db", "SELECT * FROM orders") == []
    [open_run] = project.flow().runs()
    assert open_run.status is RunStatus.RUNNING

    done = project.flow().run("load_orders")
    assert project.rows("out.db", ROWS) == LOADED
    assert (done.run_id, done.attempt, done.adopted) == (open_run.run_id, 2, False)
    assert not any((project.path / ".ematix-flow" / "staging" / "load_orders").iterdir())
    assert [run.status for run in project.flow().runs()] == [RunStatus.SUCCEEDED]


@pytest.mark.proves("adopt-open-run", "append-once")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_killed_after_the_commit_and_before_the_record(project, kind):
    project.with_orders(kind)
    crash(project, "StepEnded", "commit")
    assert project.rows("out.db", ROWS) == LOADED

    done = project.flow().run("load_orders")
    assert (done.status, done.adopted, done.rows.inserted) == (RunStatus.SUCCEEDED, True, 3)
    assert "engine" not in [step.step for step in done.steps], "adopting needs no Spark"
    assert project.rows("out.db", ROWS) == LOADED
    assert [run.status for run in project.flow().runs()] == [RunStatus.SUCCEEDED]


@pytest.mark.proves("adopt-open-run")
@pytest.mark.parametrize(
    ("event", "status", "replaced"),
    [("StepEnded", RunStatus.SUCCEEDED, 3), ("StepStarted", RunStatus.FAILED, 0)],
)
def test_new_starts_another_run_and_records_how_the_dead_one_ended(
    project, event, status, replaced
):
    project.with_orders("sqlite", "truncate")
    crash(project, event, "commit")
    done = project.flow().run("load_orders", new=True)
    assert (done.attempt, done.adopted, done.rows.deleted) == (1, False, replaced)
    newest, dead = project.flow().runs()
    assert (newest.status, dead.status) == (RunStatus.SUCCEEDED, status)


class Interrupt:
    """An observer that raises when the commit has just ended."""

    def __init__(self, error):
        self.error = error

    def __call__(self, event):
        if isinstance(event, StepEnded) and event.step == "commit":
            raise self.error


def test_a_broken_observer_never_breaks_a_run(project):
    project.with_orders()
    done = project.flow(observer=Interrupt(BrokenPipeError())).run("load_orders")
    assert done.status is RunStatus.SUCCEEDED


def test_interrupted_after_the_commit_it_is_recorded_as_landed(project):
    project.with_orders()
    with pytest.raises(KeyboardInterrupt):
        project.flow(observer=Interrupt(KeyboardInterrupt())).run("load_orders")
    [run] = project.flow().runs()
    assert (run.status, run.rows.inserted) == (RunStatus.SUCCEEDED, 3)
    assert project.rows("out.db", ROWS) == LOADED


@pytest.mark.proves("adopt-open-run")
def test_when_the_target_cannot_be_asked_the_run_stays_open_and_is_adopted(project, monkeypatch):
    project.with_orders()
    flow = project.flow(observer=Interrupt(KeyboardInterrupt()))
    monkeypatch.setattr("ematix_flow.write.landed.entry_of_run", unreachable)
    with pytest.raises(KeyboardInterrupt):
        flow.run("load_orders")
    monkeypatch.undo()
    [run] = project.flow().runs()
    assert run.status is RunStatus.RUNNING
    done = project.flow().run("load_orders")
    assert (done.run_id, done.adopted) == (run.run_id, True)
    assert project.rows("out.db", ROWS) == LOADED


def unreachable(*_):
    raise OSError("the network is down")


@pytest.mark.proves("adopt-open-run")
def test_a_dead_run_is_found_even_after_others_committed(project):
    """Another checkout may have loaded in between: the ledger keeps each run."""
    project.with_orders("sqlite", "truncate")
    crash(project, "StepEnded", "commit")
    log = project.path / ".ematix-flow" / "runs.jsonl"
    kept = log.read_bytes()
    log.unlink()
    project.flow().run("load_orders")
    log.write_bytes(kept)
    assert project.flow().run("load_orders").adopted


def test_a_name_that_looks_secret_is_still_found_in_the_log(project):
    project.with_orders()
    crash(project, "StepEnded", "commit")
    register_secret("load_orders")
    assert project.flow().run("load_orders").adopted


def test_a_killed_run_leaves_no_process_behind(project):
    project.with_orders()
    crash(project, "StepStarted", "stage")
    mine = str(project.path)
    assert until(lambda: not _processes_of(mine), seconds=30)


def _processes_of(text):
    pids = set(filter(str.isdigit, (path.name for path in Path("/proc").iterdir()))) - {
        str(os.getpid())
    }
    return [pid for pid in pids if text in _command_line(pid)]


def _command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""
