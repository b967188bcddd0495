"""`kill -9` in runs that need no Spark: in the database, and carried by this process.

Then the run again: rows, ledger and watermark of one clean run, and nothing left behind.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, replace
from multiprocessing.context import BaseContext

import pytest

from ematix_flow.api import Flow
from ematix_flow.record.run import RunStatus
from tests.backends.places import SERVERS, Places

PROJECT = """
@ematix.table
class Copied:
    id: BigInt
    words: Text | None

@ematix.table
class Clean:
    id: BigInt
    words: Text | None

WAY = dict(mode="append", source_connection="db", target_connection="{place}"{options})
GIVEN = "SELECT id, words FROM given"

@ematix.pipeline(target=Copied, **WAY)
def load():
    return GIVEN

@ematix.pipeline(target=Clean, **WAY)
def load_clean():
    return GIVEN
"""
INCREMENTAL = ', incremental_column="id"'
TEXT = {"mysql": "VARCHAR(20)"}
FEW = 3
# More than one batch of any source.
MANY = 120_000
CARRYING = ("BytesCarried", "carry")
BEFORE = ("StepStarted", "commit")
AFTER = ("StepEnded", "commit")


def run_until(folder: str, environ: dict[str, str], event: str, step: str) -> None:
    """Run as a user would, and die when this event passes by."""

    def observe(told: object) -> None:
        if type(told).__name__ == event and getattr(told, "step", None) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    Flow.open(folder, environ=environ, observer=observe).run("load")


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A table that is copied, from a database of one kind to one of another or within one."""

    places: Places
    forks: BaseContext
    source: str
    target: str
    place: str
    options: str = ""

    def declare(self) -> None:
        kinds = {"db": self.source, self.place: self.target}
        connections = "".join(self.places.declare(name, kind) for name, kind in kinds.items())
        project = PROJECT.format(place=self.place, options=self.options)
        self.places.project.declare(connections + project)
        text = TEXT.get(self.source, "TEXT")
        create = f"CREATE TABLE given (id BIGINT, words {text})"
        self.places.execute("db", self.source, create)
        self.give(1, FEW)

    def give(self, first: int, last: int) -> None:
        """Let the source have more rows."""
        counted = f"SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last}"
        rows = f"WITH RECURSIVE n(i) AS ({counted}) SELECT i, 'words' FROM n"
        if self.source in ("postgres", "duckdb"):
            rows = f"SELECT i, 'words' FROM generate_series({first}, {last}) AS n(i)"
        self.places.execute("db", self.source, f"INSERT INTO given {rows}")

    @property
    def environ(self) -> dict[str, str]:
        seen = self.places.environ()
        seen.pop("EMATIX_FLOW_DIRECT_UP_TO", None)
        return seen

    @property
    def flow(self) -> Flow:
        return self.places.project.flow(environ=self.environ)

    def killed_at(self, point: tuple[str, str]) -> None:
        folder = str(self.places.project.path)
        process = self.forks.Process(target=run_until, args=(folder, self.environ, *point))
        process.start()
        process.join(60)
        assert process.exitcode == -signal.SIGKILL

    def held(self, table: str = "copied") -> tuple[object, ...]:
        """How many rows there are, how many numbers, and the last of them."""
        query = f"SELECT count(*), count(DISTINCT id), coalesce(max(id), 0) FROM {table}"
        [found] = self.places.rows(self.place, query)
        return found

    def ledger(self, pipeline: str) -> list[tuple[object, ...]]:
        """What the target says of each run, but for which and when."""
        names = "window_start, window_end, watermark, rows_read, rows_inserted, rows_deleted"
        query = f"SELECT {names} FROM _flow_ledger WHERE pipeline = '{pipeline}'"
        return self.places.rows(self.place, f"{query} ORDER BY committed_at")

    def assert_as_clean(self) -> None:
        """Rows and ledger are those of a run that nobody killed."""
        self.flow.run("load_clean")
        assert self.held() == self.held("clean")
        assert self.ledger("load") == self.ledger("load_clean")

    def left(self) -> set[str]:
        """The tables and folders of ours that a run leaves, and should not."""
        tables = self.places.tables(self.place, self.target)
        ours = {name for name in tables if name.startswith("_flow")}
        staging = (self.places.project.path / ".ematix-flow" / "staging").glob("*/*")
        return {*(ours - {"_flow_ledger", "_flow_fence"}), *map(str, staging)}


KINDS = ("sqlite", "duckdb", *(pytest.param(kind, marks=pytest.mark.services) for kind in SERVERS))
# Every target once, and the ways into it: batches of Arrow, and one server filling another.
PAIRS = [
    ("duckdb", "sqlite"),
    ("sqlite", "duckdb"),
    pytest.param("postgres", "postgres", marks=pytest.mark.services),
    pytest.param("sqlite", "mysql", marks=pytest.mark.services),
]


@pytest.mark.proves("crash-anywhere", "watermark-in-commit", "failed-keeps-watermark", "sweep-own")
@pytest.mark.parametrize("point", [CARRYING, BEFORE, AFTER], ids=["carry", "before", "after"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_direct_load_that_is_killed(places, forks, source, target, point):
    copy = Copy(
        places=places,
        forks=forks,
        source=source,
        target=target,
        place="out",
        options=INCREMENTAL,
    )
    copy.declare()
    assert copy.flow.run("load").path == "direct"
    copy.flow.run("load_clean")
    last = MANY if point is CARRYING else 2 * FEW
    copy.give(FEW + 1, last)
    copy.killed_at(point)
    left = copy.left()
    assert left, "the crash left nothing, so it proves nothing about sweeping"

    # Rows and watermark: both, or neither.
    come_to = last if point is AFTER else FEW
    assert copy.held() == (come_to, come_to, come_to)
    assert copy.flow.plan("load").window.ends == (f"> integer {come_to}", None)
    dead = copy.flow.runs("load")[0]
    assert (dead.status, dead.window) == (RunStatus.RUNNING, (f"> integer {FEW}", None))

    done = copy.flow.run("load")
    assert (done.run_id, done.attempt, done.window) == (dead.run_id, 2, dead.window)
    assert (done.adopted, done.rows.inserted) == (point is AFTER, last - FEW)
    assert copy.held() == (last, last, last)
    assert len(copy.ledger("load")) == 2
    copy.assert_as_clean()
    # Nothing is open any more, nothing is read again, and what was left is gone.
    assert copy.flow.run("load").rows.read == 0
    assert left & copy.left() == set()
    assert {run.status for run in copy.flow.runs()} == {RunStatus.SUCCEEDED}


@pytest.mark.proves("crash-anywhere", "append-once", "sweep-own")
@pytest.mark.parametrize("kind", KINDS)
def test_a_load_within_a_database_that_is_killed_before_its_commit(places, forks, kind):
    copy = Copy(places=places, forks=forks, source=kind, target=kind, place="db")
    copy.declare()
    copy.killed_at(BEFORE)
    assert (copy.held(), copy.ledger("load")) == ((0, 0, 0), [])
    left = copy.left()
    assert left
    done = copy.flow.run("load")
    assert (done.path, done.attempt, done.adopted) == ("in_database", 2, False)
    copy.assert_as_clean()
    assert left & copy.left() == set()


@pytest.mark.proves("sweep-own")
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_direct_load_leaves_nothing_behind(places, forks, source, target):
    copy = Copy(places=places, forks=forks, source=source, target=target, place="out")
    copy.declare()
    assert copy.flow.run("load").path == "direct"
    assert copy.left() == set()


@pytest.mark.proves("sweep-own")
@pytest.mark.parametrize("kind", [KINDS[0], KINDS[-1]])
def test_a_run_that_adopts_sweeps_what_the_dead_one_left(places, forks, kind):
    copy = Copy(places=places, forks=forks, source=kind, target=kind, place="db")
    copy.declare()
    copy.killed_at(AFTER)
    assert copy.flow.run("load").adopted
    assert copy.left() == set()


@pytest.mark.proves("sweep-own")
@pytest.mark.services
def test_what_a_dead_run_left_is_swept_though_the_next_takes_another_way(places, forks):
    copy = Copy(places=places, forks=forks, source="postgres", target="postgres", place="out")
    copy.declare()
    copy.killed_at(BEFORE)
    assert any(name.startswith("_flow_staging_") for name in copy.left())
    # From another kind of source, rows come without such a table.
    again = replace(copy, source="sqlite")
    again.declare()
    again.flow.run("load")
    assert again.left() == set()
    assert again.held() == (FEW, FEW, FEW)


@pytest.mark.proves("crash-anywhere", "adopt-open-run", "append-once")
@pytest.mark.parametrize("kind", KINDS)
def test_a_landed_run_is_adopted_or_another_is_asked_for(places, forks, kind):
    copy = Copy(places=places, forks=forks, source=kind, target=kind, place="db")
    copy.declare()
    copy.killed_at(AFTER)
    first = copy.flow.run("load")
    assert (first.path, first.adopted, first.rows.inserted) == ("in_database", True, FEW)
    copy.assert_as_clean()

    copy.killed_at(AFTER)
    assert copy.held()[0] == 2 * FEW
    another = copy.flow.run("load", new=True)
    assert (another.adopted, another.attempt, copy.held()[0]) == (False, 1, 3 * FEW)
    newest, dead, oldest = copy.flow.runs("load")
    assert [each.status for each in (newest, dead, oldest)] == [RunStatus.SUCCEEDED] * 3
    assert (newest.run_id, dead.adopted, oldest.run_id) == (another.run_id, True, first.run_id)
    assert len(copy.ledger("load")) == 3


def test_the_command_says_that_it_adopted(places, forks):
    copy = Copy(places=places, forks=forks, source="sqlite", target="sqlite", place="db")
    copy.declare()
    copy.killed_at(AFTER)
    told = places.project.cli("run", "load")
    assert told.returncode == 0, told.stderr
    assert "(had already landed before the interruption)" in told.stdout
    assert copy.held()[0] == FEW
    told = places.project.cli("run", "load", "--new")
    assert "3 inserted" in told.stdout
    assert copy.held()[0] == 2 * FEW
