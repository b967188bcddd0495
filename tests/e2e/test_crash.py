"""kill -9 at the steps of a real run, then again: exactly the rows of one run."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_new_starts_another_run_and_closes_the_dead_one(project):
    project.with_orders("sqlite", "truncate")
    crash(project, "StepEnded", "commit")
    done = project.flow().run("load_orders", new=True)
    assert (done.attempt, done.adopted, done.rows.deleted) == (1, False, 3)
    newest, dead = project.flow().runs()
    assert (newest.status, dead.status) == (RunStatus.SUCCEEDED, RunStatus.FAILED)
    assert dead.error["type"] == "PresumedFailed"


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
