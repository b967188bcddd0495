"""The record of a run is the same whoever ran it, and says which engine carried the rows and why.

All ways run in this process, so that one Spark serves them.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from unittest.mock import patch

import duckdb
import pyarrow as pa
import pytest

from ematix_flow import connect
from ematix_flow.cli.root import main
from ematix_flow.declare.project import Project, declaring_into
from tests.projects import ProjectFolder

PROJECT = """
@ematix.connection
class app:
    kind = "duckdb"
    path = "app.db"

@ematix.connection
class out:
    kind = "duckdb"
    path = "out.db"

@ematix.table
class People:
    id: Annotated[BigInt, pk()]
    name: Text | None

@ematix.pipeline(
    target=People, mode="merge", source_connection="app", target_connection="{place}",
    force_path="{path}",
)
def load():
    return "SELECT id, name FROM given"
"""
# Each path, and the connection that it leads to.
PATHS = {"in_database": "app", "direct": "out", "spark": "out"}
# What differs from run to run; of the engine, only that it has been written down.
OWN = ("run_id", "pipeline", "started_at", "ended_at", "engine")


@pytest.fixture
def shop(project, monkeypatch):
    """A project with rows to load; this process is in its folder, as a script of its user's is."""

    def make(path: str) -> ProjectFolder:
        with duckdb.connect(str(project.path / "app.db")) as database:
            database.execute("CREATE TABLE given AS SELECT 1::BIGINT AS id, 'ada' AS name")
        project.declare(PROJECT.format(place=PATHS[path], path=path))
        monkeypatch.chdir(project.path)
        return project

    return make


def by_command(project: ProjectFolder, *options: str) -> None:
    words = ["flow", "run", "load", "--project", str(project.path), *options]
    with patch.object(sys, "argv", words), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0


def by_flow(project: ProjectFolder) -> None:
    project.flow().run("load")


def by_sync(project: ProjectFolder) -> None:
    with declaring_into(Project()):
        runpy.run_path(str(project.path / "pipelines.py"))["load"].sync()


WAYS: dict[str, Callable[[ProjectFolder], None]] = {
    "flow run": by_command,
    "Flow.run": by_flow,
    ".sync()": by_sync,
}


def events(project: ProjectFolder) -> list[dict[str, object]]:
    """The lines of the run log."""
    log = project.path / ".ematix-flow" / "runs.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()]


def shape(project: ProjectFolder) -> list[tuple[str, frozenset[str]]]:
    """Which events the log has, in their order, and what each tells."""
    return [
        (str(event.get("step") or event["event"]), frozenset(event)) for event in events(project)
    ]


def facts(project: ProjectFolder) -> dict[str, object]:
    """The record of the last run without what is its own."""
    told = project.flow().runs()[0].to_json()
    seconds = [step.pop("seconds") for step in told["steps"]]
    assert all(each >= 0 for each in seconds)
    return {name: value for name, value in told.items() if name not in OWN}


@pytest.mark.proves("record-of-run")
@pytest.mark.parametrize("path", PATHS)
def test_every_way_of_running_writes_the_same_record(shop, path):
    project = shop(path)
    records, shapes, engines = [], [], []
    for run in WAYS.values():
        for left in ("out.db", ".ematix-flow/runs.jsonl"):
            (project.path / left).unlink(missing_ok=True)
        if path == "in_database":
            drop(project)
        run(project)
        records.append(facts(project))
        shapes.append(shape(project))
        engines.append(set(project.flow().runs()[0].engine))
    assert records[0] == records[1] == records[2]
    assert shapes[0] == shapes[1] == shapes[2]
    assert engines[0] == engines[1] == engines[2]
    assert (records[0]["path"], records[0]["status"]) == (path, "succeeded")
    steps = [step["step"] for step in records[0]["steps"]]
    assert (steps[0], steps[-1]) == ("plan", "commit")
    assert bool(engines[0]) is ("engine" in steps) is (path == "spark")


def drop(project: ProjectFolder) -> None:
    """Take away what a run has made beside its source."""
    with duckdb.connect(str(project.path / "app.db")) as database:
        for table in ("people", "_flow_ledger", "_flow_fence"):
            database.execute(f"DROP TABLE IF EXISTS {table}")


@pytest.mark.proves("record-of-run", "frames")
def test_a_frame_that_is_written_is_recorded_like_any_run(shop):
    project = shop("spark")
    project.flow().run("load")
    declared = project.flow().runs()[0].to_json()
    (project.path / ".ematix-flow" / "runs.jsonl").unlink()
    frame = pa.table({"id": pa.array([2], pa.int64()), "name": ["bob"]})
    with declaring_into(Project()):
        out = connect("out", kind="duckdb", path="out.db")
        done = out.write_df(frame, "people", mode="merge", keys=["id"])
    [kept] = project.flow().runs()
    assert kept == done
    written = kept.to_json()
    assert written.keys() == declared.keys()
    assert written["engine"].keys() == declared["engine"].keys()
    assert [set(target) for target in written["targets"]] == [
        set(target) for target in declared["targets"]
    ]
    assert {"plan", "prepare", "engine", "stage", "commit"} <= {
        step["step"] for step in written["steps"]
    }
    assert (written["path"], written["rows"]["inserted"]) == ("spark", 1)


@pytest.mark.proves("engine-chosen", "record-of-run")
def test_the_engine_and_who_chose_it_are_in_the_record(shop, monkeypatch):
    project = shop("spark")
    toml = project.path / "ematix-flow.toml"
    monkeypatch.delenv("EMATIX_FLOW_ENGINE", raising=False)

    def told(*options: str) -> tuple[object, object]:
        by_command(project, *options)
        engine = project.flow().runs()[0].engine
        return engine["engine"], engine["why"]

    assert told() == ("local", "default")
    toml.write_text('engine = "local"\n')
    assert told() == ("local", "set in the project's TOML")
    # What comes later wins over what would not even be understood.
    toml.write_text('engine = "sc://nobody.example:1"\n')
    monkeypatch.setenv("EMATIX_FLOW_ENGINE", "local")
    assert told() == ("local", "EMATIX_FLOW_ENGINE is set")
    monkeypatch.setenv("EMATIX_FLOW_ENGINE", "sc://nobody.example:1")
    assert told("--engine", "local") == ("local", "asked for")
