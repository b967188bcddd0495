"""A dry run beside others: no run meets its tables, and one that is killed leaves none for long."""

from __future__ import annotations

import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from unittest.mock import patch

import pytest

from ematix_flow.api import Flow
from ematix_flow.errors import TargetError
from ematix_flow.observe.events import StepStarted
from ematix_flow.record.run import RunResult
from ematix_flow.write.applied import Applied
from tests.backends.places import SERVERS

PROJECT = """
@ematix.table{schema}
class Orders:
    id: Annotated[BigInt, pk()]
    words: Text | None

@ematix.pipeline(
    target=Orders, mode="merge", sequence_by=["n"],
    source_connection="db", target_connection="out",
)
def load():
    return "SELECT id, words, n FROM given"
"""
IN_SCHEMA = '(schema="shop")'
TEXTS = {"postgres": "text", "mysql": "longtext"}
OURS = {
    "postgres": "SELECT table_name FROM information_schema.tables WHERE table_name LIKE '\\_flow%'",
    "mysql": "SELECT table_name FROM information_schema.tables "
    "WHERE table_schema = DATABASE() AND table_name LIKE '\\_flow%'",
}
COMPANION = "_flow_seq_orders"

pytestmark = [
    pytest.mark.services,
    pytest.mark.proves("preview-dry-run"),
]


def declared(places, kind, project=None, schema=""):
    """Orders from SQLite into a server; without Spark."""
    project = project or places.project
    connections = places.declare("db", "sqlite") + places.declare("out", kind)
    project.declare(connections + PROJECT.format(schema=schema))
    project.sqlite(
        "db.db",
        "CREATE TABLE given (id BIGINT, words TEXT, n BIGINT)",
        "INSERT INTO given VALUES (1, 'new', 5)",
    )
    return lambda **options: project.flow(environ=environ(places), **options)


def environ(places):
    seen = places.environ()
    seen.pop("EMATIX_FLOW_DIRECT_UP_TO")
    return seen


def ours(places, kind):
    return {str(name) for (name,) in places.rows("out", OURS[kind])}


@contextmanager
def looking_before_the_changes(look):
    """Have a look when everything is there that a commit writes."""
    counts = Applied.counts

    def looked(applied):
        look()
        return counts(applied)

    with patch.object(Applied, "counts", looked):
        yield


@pytest.mark.parametrize("kind", SERVERS)
def test_a_table_that_is_there_gets_no_companion_that_a_run_could_meet(places, kind):
    flow = declared(places, kind)
    places.execute("out", kind, f"CREATE TABLE orders (id BIGINT PRIMARY KEY, words {TEXTS[kind]})")
    seen: list[set[str]] = []
    with looking_before_the_changes(lambda: seen.append(ours(places, kind))):
        assert flow().dry_run("load").rows.inserted == 1
    [during] = seen
    assert COMPANION not in during
    assert kind == "mysql" or not during
    assert ours(places, kind) == set()
    assert places.rows("out", "SELECT count(*) FROM orders") == [(0,)]


def test_a_dry_run_takes_nothing_from_the_first_run(places, make_project):
    """What tells late events is the run's, though the dry run began without it."""
    other = make_project("other")
    first = declared(places, "postgres", other, IN_SCHEMA)
    flow = declared(places, "postgres", schema=IN_SCHEMA)
    create = "CREATE TABLE shop.orders (id bigint PRIMARY KEY, words text)"
    places.execute("out", "postgres", "CREATE SCHEMA shop", create)

    def run(event):
        if isinstance(event, StepStarted) and event.step == "commit":
            assert first().run("load").rows.inserted == 1

    assert flow(observer=run).dry_run("load").rows.unchanged == 1
    other.sqlite("db.db", "UPDATE given SET words = 'late', n = 1")
    first().run("load")
    assert places.rows("out", "SELECT id, words FROM shop.orders") == [(1, "new")]


@pytest.mark.parametrize("kind", SERVERS)
def test_a_dry_run_ends_no_run_that_began_meanwhile(places, make_project, kind):
    first = declared(places, kind, make_project("other"))
    flow = declared(places, kind)
    commits, counted = Event(), Event()

    def wait(event):
        if isinstance(event, StepStarted) and event.step == "commit":
            commits.set()
            assert counted.wait(60)

    with ThreadPoolExecutor(1) as threads:
        runs: list[Future[RunResult]] = []

        def begin(event):
            if isinstance(event, StepStarted) and event.step == "carry":
                runs.append(threads.submit(first(observer=wait).run, "load"))
                assert commits.wait(60)

        try:
            assert flow(observer=begin).dry_run("load").rows.inserted == 1
        finally:
            counted.set()
        assert runs[0].result(60).rows.inserted == 1
    assert places.rows("out", "SELECT id, words FROM orders") == [(1, "new")]


def die(folder: str, seen: dict[str, str]) -> None:
    """Begin a dry run, and end in its commit as `kill -9` ends it."""
    with looking_before_the_changes(lambda: os.kill(os.getpid(), signal.SIGKILL)):
        Flow.open(folder, environ=seen).dry_run("load")


@pytest.mark.proves("sweep-own")
@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("next_one", ["dry_run", "run"])
def test_what_a_killed_dry_run_left_is_in_nobodys_way_and_swept(places, forks, kind, next_one):
    flow = declared(places, kind)
    process = forks.Process(target=die, args=(str(places.project.path), environ(places)))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    left = ours(places, kind)
    assert bool(left) == (kind == "mysql")
    # Declared otherwise by now, which must not be held against what was left.
    declaration = (places.project.path / "pipelines.py").read_text()
    places.project.write("pipelines.py", declaration.replace("Text | None", "String[20] | None"))
    assert getattr(flow(), next_one)("load").rows.inserted == 1
    assert left & ours(places, kind) == set()
    assert not [name for name in ours(places, kind) if name.startswith("_flow_dry_")]


@pytest.mark.parametrize("kind", SERVERS)
def test_a_row_that_is_refused_is_told_with_the_name_of_its_table(places, kind):
    places.project.declare(
        places.declare("db", "sqlite")
        + places.declare("out", kind)
        + PROJECT.format(schema="")
        .replace('"merge", sequence_by=["n"]', '"append"')
        .replace("words, n FROM", "words FROM")
    )
    places.execute(
        "db",
        "sqlite",
        "CREATE TABLE given (id BIGINT, words TEXT, n BIGINT)",
        "INSERT INTO given VALUES (1, 'a', 1), (1, 'b', 2)",
    )
    with pytest.raises(TargetError) as caught:
        places.project.flow(environ=environ(places)).dry_run("load")
    assert "_flow_dry_" not in str(caught.value)
