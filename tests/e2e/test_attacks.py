"""Attacks that once succeeded, by people who had not written the code."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from ematix_flow.errors import (
    DeclarationError,
    FenceLost,
    FlowError,
    PipelineBusy,
    PlanError,
    TargetError,
    UsageError,
)
from ematix_flow.observe.events import StepEnded, StepStarted
from ematix_flow.record.run import RunResult, RunStatus
from ematix_flow.record.stores.jsonl import JsonlRunLog
from ematix_flow.write.fence import fence_lost
from ematix_flow.write.file_lock import file_lock
from ematix_flow.write.holding import Holding

COPY = """
@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"

@ematix.connection
class out:
    kind = "{kind}"
    path = "out.db"

@ematix.table
class Copied:
    id: BigInt
    amount: Numeric[10, 2] | None

@ematix.pipeline(
    target=Copied, mode="append", source_connection=app, target_connection=out, {options}
)
def load():
    return "SELECT id, amount FROM given"
"""


def given(project, kind="sqlite", options="", rows="(1, 12.50), (2, 3.00)"):
    project.sqlite(
        "app.db",
        "CREATE TABLE given (id BIGINT, amount NUMERIC(10, 2))",
        f"INSERT INTO given VALUES {rows}",
    )
    project.declare(COPY.format(kind=kind, options=options))
    return project


class Dies(BaseException):
    """Ends a run as a kill would: nothing of it is caught."""


def run_until(project, monkeypatch, event):
    """Run until the commit is where *event* tells of it, and die there."""

    def die(told):
        if isinstance(told, event) and told.step == "commit":
            raise Dies

    with monkeypatch.context() as patched:
        # As a kill: the end is not recorded.
        patched.setattr("ematix_flow.engine.runs.run._shielded", lambda observer: observer)
        patched.setattr("ematix_flow.engine.runs.run._Run._had_landed", lambda *_: False)
        with pytest.raises(Dies):
            project.flow(observer=die).run("load")


@pytest.mark.proves("append-once", "adopt-open-run")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_failing_attempt_does_not_forget_what_an_earlier_one_landed(project, kind, monkeypatch):
    given(project, kind)
    run_until(project, monkeypatch, StepEnded)
    hidden = (project.path / "app.db").rename(project.path / "hidden.db")
    with pytest.raises(FlowError):
        project.flow().run("load")
    hidden.rename(project.path / "app.db")
    assert project.flow().run("load").adopted
    assert project.rows("out.db", "SELECT count(*) FROM copied") == [(2,)]


@pytest.mark.proves("preview-dry-run")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_dry_run_leaves_a_database_alone_that_came_meanwhile(project, kind):
    given(project, kind)
    file = project.path / "out.db"

    def fill(event):
        if isinstance(event, StepStarted) and event.step == "commit":
            file.write_text("another pipeline's")

    assert project.flow().dry_run("load").rows.inserted == 2
    assert not file.exists()
    project.flow(observer=fill).dry_run("load")
    assert file.read_text() == "another pipeline's"


HOT = """
import os, signal, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA cache_size = 1")
database.execute("BEGIN")
database.executemany("INSERT INTO copied (id) VALUES (?)", [(n,) for n in range(20000)])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.proves("crash-anywhere")
def test_a_journal_that_a_killed_writer_left_is_rolled_back(project):
    given(project)
    project.flow().run("load")
    died = subprocess.run(
        [sys.executable, "-c", HOT, str(project.path / "out.db")], check=False, capture_output=True
    )
    assert died.returncode == -9
    assert (project.path / "out.db-journal").exists()
    assert project.flow().plan("load").first.exists
    project.flow().run("load")
    assert project.rows("out.db", "SELECT count(*) FROM copied") == [(4,)]


@pytest.mark.proves("replay")
def test_a_run_that_failed_is_not_replayed(project):
    given(project, rows="(NULL, 1)")
    with pytest.raises(FlowError):
        project.flow().run("load")
    [run] = project.flow().runs()
    with pytest.raises(UsageError, match="nothing that it loaded"):
        project.flow().replay(run.run_id)


@pytest.mark.proves("lookback", "backfill")
def test_rows_that_cannot_be_told_apart_are_not_read_again(project):
    given(project, options='incremental_column="seen", lookback="1h",')
    project.declare(
        COPY.format(kind="sqlite", options='incremental_column="seen", lookback="1h",').replace(
            "SELECT id, amount FROM given", "SELECT id, amount, DATE('now') AS seen FROM given"
        )
    )
    with pytest.raises(PlanError, match="equal rows cannot be told from the same row"):
        project.flow().plan("load")


def test_runs_are_in_the_order_in_which_they_were_written(tmp_path):
    log = JsonlRunLog(tmp_path / "runs.jsonl")
    for run_id in ("9", "1"):
        log.started(
            RunResult(run_id=run_id, pipeline="p", status=RunStatus.RUNNING, started_at="now")
        )
    assert [run.run_id for run in log.runs()] == ["1", "9"]


@pytest.mark.proves("paths-agree")
def test_numbers_that_sqlite_keeps_as_text_are_not_compared_there(project):
    given(project, options='transforms_pre=[filter_where("amount > 5")],')
    assert project.flow().plan("load").path == "spark"


@pytest.mark.proves("mistakes-told")
def test_a_condition_that_is_no_sql_is_left_to_those_who_tell_it(project):
    given(project, options='transforms_pre=[filter_where("id = 1) OR (1=1")],')
    assert project.flow().plan("load").path == "spark"


@pytest.mark.proves("mistakes-told")
def test_our_own_names_are_refused_where_the_query_names_the_columns(project):
    given(project)
    text = COPY.format(kind="sqlite", options="").replace("target=Copied", 'target="t"')
    project.declare(text.replace("SELECT id,", "SELECT id AS _flow_value,"))
    with pytest.raises(DeclarationError, match="_flow_"):
        project.flow().plan("load")


@pytest.mark.proves("no-secret")
def test_a_flow_does_not_show_its_environment(project):
    given(project)
    flow = project.flow(environ={"HOME": str(project.path), "APP_PASSWORD": "hunter2"})
    assert "hunter2" not in repr(flow)


@pytest.mark.proves("plan-pure", "append-once")
@pytest.mark.parametrize("end", ["load.sync()", 'Flow.open(".")'])
def test_a_module_that_loads_when_it_is_imported_is_refused(project, end):
    given(project)
    with (project.path / "pipelines.py").open("a") as file:
        file.write(f"\n{end}\n")
    told = project.cli("list")
    assert told.returncode != 0
    assert "while the modules of the project are loaded; nothing was run" in told.stderr
    assert not (project.path / "out.db").exists()


@pytest.mark.proves("record-of-run")
def test_what_landed_is_told_though_a_later_run_failed(project):
    given(project)
    with (project.path / "pipelines.py").open("a") as file:
        file.write(
            '\n@ematix.pipeline(target="later", mode="append", source_connection=app,'
            ' target_connection=out, depends_on=["load"])\n'
            "def later():\n    return 'SELECT id FROM nowhere'\n"
        )
    told = project.cli("run", "--all", "--format", "json")
    assert told.returncode == 1
    [run] = json.loads(told.stdout)["runs"]
    assert (run["pipeline"], run["status"]) == ("load", "succeeded")
    with closing(sqlite3.connect(project.path / "out.db")) as database:
        assert database.execute("SELECT count(*) FROM copied").fetchone() == (2,)


DRAWN = """
@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"

@ematix.table
class Drawn:
    id: BigInt
    side: BigInt

@ematix.pipeline(
    target=Drawn, mode="append", source_connection=app, target_connection=app,
    transforms_pre=[filter_where("side = 1")],
)
def load():
    return "SELECT id, CAST(abs(RANDOM()) % 2 AS INTEGER) AS side FROM given -- heads or tails"
"""


@pytest.mark.proves("paths-agree")
def test_a_row_that_is_drawn_is_drawn_once(project):
    rows = ", ".join(f"({number})" for number in range(100))
    project.sqlite("app.db", "CREATE TABLE given (id BIGINT)", f"INSERT INTO given VALUES {rows}")
    project.declare(DRAWN)
    done = project.flow().run("load")
    assert done.path == "in_database"
    assert done.rows.inserted > 0
    assert project.rows("app.db", "SELECT DISTINCT side FROM drawn") == [(1,)]


SWAPPED = """
@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"

@ematix.connection
class out:
    kind = "sqlite"
    path = "out.db"

@ematix.table(unique_constraints=[["place"]])
class Seats:
    id: Annotated[BigInt, pk()]
    place: BigInt

@ematix.pipeline(target=Seats, mode="merge", source_connection=app, target_connection=out)
def load():
    return "SELECT id, place FROM given"
"""


@pytest.mark.proves("mistakes-told", "nothing-half-written")
def test_rows_that_exchange_a_unique_value_are_told_so(project):
    create = "CREATE TABLE given (id BIGINT, place BIGINT)"
    project.sqlite("app.db", create, "INSERT INTO given VALUES (1, 1), (2, 2)")
    project.declare(SWAPPED)
    project.flow().run("load")
    project.sqlite("app.db", "UPDATE given SET place = 3 - place")
    with pytest.raises(TargetError, match="cannot do so in one load"):
        project.flow().run("load")
    assert project.rows("out.db", "SELECT id, place FROM seats ORDER BY id") == [(1, 1), (2, 2)]


@pytest.mark.proves("one-lease")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_is_locked_whatever_leads_to_it(project, kind):
    given(project, kind)
    project.flow().run("load")
    (project.path / "link.db").symlink_to("out.db")
    project.declare(COPY.format(kind=kind, options="").replace("out.db", "link.db"))
    locked = file_lock(project.path / "out.db", "load", holder="another project", since="now")
    with locked, pytest.raises(PipelineBusy, match="another project"):
        project.flow().run("load")
    project.flow().run("load")
    assert project.rows("out.db", "SELECT count(*) FROM copied") == [(4,)]


@pytest.mark.proves("lost-lease")
def test_who_loses_the_lease_after_the_commit_is_told_where_the_rows_are(project, monkeypatch):
    given(project, options='transforms_post=["DELETE FROM copied"],')
    landed = []

    def require(_):
        if landed:
            raise fence_lost("load", None, 1)

    def observe(event):
        if isinstance(event, StepEnded) and event.step == "commit":
            landed.append(event)

    monkeypatch.setattr(Holding, "require", require)
    with pytest.raises(FenceLost, match="the rows of this one are in copied, but") as caught:
        project.flow(observer=observe).run("load")
    assert "nothing was written" not in str(caught.value)
    assert project.rows("out.db", "SELECT count(*) FROM copied") == [(2,)]
    [run] = project.flow().runs()
    assert (run.status, run.targets[0].status) == (RunStatus.FAILED, RunStatus.SUCCEEDED)


@pytest.mark.proves("adopt-open-run")
def test_an_incremental_column_that_is_gone_since_a_run_died(project, monkeypatch):
    given(project, options='incremental_column="id",')
    project.flow().run("load")
    project.sqlite("app.db", "INSERT INTO given VALUES (3, 1)")
    run_until(project, monkeypatch, StepStarted)
    project.declare(COPY.format(kind="sqlite", options="").replace('"append"', '"truncate"'))
    with pytest.raises(PlanError, match="had begun to read > integer 2") as caught:
        project.flow().run("load")
    assert "`flow run load --new`" in str(caught.value)
    project.flow().run("load", new=True)
    assert project.rows("out.db", "SELECT count(*) FROM copied") == [(3,)]
    new, dead, _ = project.flow().runs()
    assert (new.status, dead.status) == (RunStatus.SUCCEEDED, RunStatus.FAILED)
