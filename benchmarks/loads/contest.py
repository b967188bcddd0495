"""Run the contestants: give each the same start, time it, hold its table against the source."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from benchmarks.loads import orders
from benchmarks.loads.contestants import PEERS, Contestant, Load
from benchmarks.loads.orders import Fingerprint
from benchmarks.loads.results import Measurement
from benchmarks.loads.timing import Failed, timed

if TYPE_CHECKING:
    from benchmarks.loads.server import Server

WORK = "work"
FIRST, SECOND, REPLACED = "day1", "day2", "replaced"
# What a load begins with: nothing, or the source beside it.
EMPTY, BOTH = "empty", "both"
# A day has passed: the server has tidied up and knows its tables.
TIDY = "VACUUM (ANALYZE, FREEZE)"


class Contest:
    """The server, the two days, and for each load the state that it starts from.

    A merge and a history start where the contestant's own load of the first day ended. That state
    is made once, outside the clock, and copied for every repeat: its database, and the folder
    with what the contestant keeps beside it.
    """

    def __init__(self, server: Server, rows: int, folder: Path, settings: str = "") -> None:
        """
        :param folder: Where the contestants work.
        :param settings: The TOML of our own project.
        """
        self._server = server
        self._rows = rows
        self._folder = folder
        self._settings = settings
        self._states: set[tuple[str, Load]] = set()
        self._expected: dict[str, Fingerprint] = {}

    def prepare(self, contestant: Contestant) -> None:
        """Do what is done once per machine, like an installation: store what Spark's JVM learns."""
        self._begin(contestant, None)
        environ = self._environment(contestant, Load("postgres", "append"), FIRST)
        _flow(contestant, environ, self._folder / WORK, "engine", "prepare")

    def make_sources(self) -> None:
        """Fill the two days, and one database that has them both."""
        self.make_first_day()
        later = "orders_later"
        second = orders.create(orders.TABLE), *orders.second_day(orders.TABLE, self._rows)
        self._fill(SECOND, *second)
        self._fill(
            BOTH,
            *self._first_day(),
            orders.create(later),
            *orders.second_day(later, self._rows),
        )
        replaced = f"{orders.CHANGED} AND id <= {self._rows}"
        self._expected[SECOND] = self._source_print(SECOND)
        self._expected[REPLACED] = self._source_print(FIRST, replaced)

    def make_first_day(self) -> None:
        """Fill the first day alone: enough for an append."""
        self._server.create(EMPTY)
        self._fill(FIRST, *self._first_day())
        self._expected[FIRST] = self._source_print(FIRST)

    def _first_day(self) -> tuple[str, ...]:
        return orders.create(orders.TABLE), orders.first_day(orders.TABLE, self._rows)

    def _fill(self, database: str, *statements: str) -> None:
        self._server.create(database)
        self._server.execute(database, *statements, TIDY)

    def measure(self, contestant: Contestant, load: Load) -> Measurement:
        """Run one load with the clock on, from a fresh copy of its state."""
        if not contestant.python.exists():
            raise Failed(f"{contestant.environment} is missing: `make bench-load` builds it")
        history = load.mode != "append"
        if history and (contestant.name, load) not in self._states:
            self._make_state(contestant, load)
        self._begin(contestant, self._state(contestant, load) if history else None)
        seconds, peak = self._run(contestant, load, SECOND if history else FIRST)
        self._judge(contestant, load, SECOND if history else FIRST)
        return Measurement(
            contestant=contestant.name,
            target=load.target,
            mode=load.mode,
            seconds=seconds,
            peak_bytes=peak,
        )

    def _make_state(self, contestant: Contestant, load: Load) -> None:
        self._begin(contestant, None)
        self._run(contestant, load, FIRST)
        self._judge(contestant, load, FIRST)
        state = self._state(contestant, load)
        if contestant.place == "in one database":
            self._server.execute(
                WORK,
                f"DROP TABLE {orders.TABLE}",
                f"ALTER TABLE orders_later RENAME TO {orders.TABLE}",
            )
        self._server.execute(WORK, TIDY)
        self._server.rename(WORK, state)
        shutil.rmtree(self._folder / state, ignore_errors=True)
        shutil.move(self._folder / WORK, self._folder / state)
        self._states.add((contestant.name, load))

    def _begin(self, contestant: Contestant, state: str | None) -> None:
        """Put the work database and the work folder where the load starts from."""
        work = self._folder / WORK
        shutil.rmtree(work, ignore_errors=True)
        blank = BOTH if contestant.place == "in one database" else EMPTY
        self._server.create(WORK, template=state or blank)
        if state:
            shutil.copytree(self._folder / state, work)
            return
        work.mkdir(parents=True)
        if contestant.is_flow:
            shutil.copy(PEERS / "flow_pipelines.py", work / "pipelines.py")
            (work / "ematix-flow.toml").write_text(self._settings)

    def _state(self, contestant: Contestant, load: Load) -> str:
        return f"{contestant.name}_{load.target}_{load.mode}".replace("-", "_")

    def _run(self, contestant: Contestant, load: Load, day: str) -> tuple[float, int]:
        """Return the seconds and the peak memory of one load."""
        work = self._folder / WORK
        environ = self._environment(contestant, load, day)
        values = {"mode": load.mode, "target": load.target}
        command = [str(contestant.python)]
        command += [part.format_map(values) for part in contestant.command]
        with ExitStack() as stack:
            roots = []
            if contestant.is_flow and contestant.start == "warm":
                roots.append(self._warm_up(contestant, environ, work))
                stack.callback(_flow, contestant, environ, work, "engine", "stop", "--force")
            self._server.settle()
            done = timed(command, work, environ, roots, itself=_times_itself(contestant))
        if contestant.is_flow:
            _check_claim(contestant, environ, work)
        return done

    def _warm_up(self, contestant: Contestant, environ: dict[str, str], work: Path) -> int:
        """Start the engine and let it load once; return its process."""
        _flow(contestant, environ, work, "engine", "start")
        _flow(contestant, environ, work, "run", "warm_up")
        if environ["LOAD_KIND"] == "postgres":
            self._server.execute(WORK, "DROP TABLE mart.warm_up")
        told = json.loads(_flow(contestant, environ, work, "engine", "status", "--format", "json"))
        found: int = told["engine"]["pid"]
        return found

    def _environment(self, contestant: Contestant, load: Load, day: str) -> dict[str, str]:
        work = self._folder / WORK
        inside = contestant.place == "in one database"
        target = str(work / "warehouse.duckdb")
        inherited = dict(os.environ)
        if contestant.environment != ".venv":
            # What is on our path is not a peer's business; one of them even has our name.
            inherited.pop("PYTHONPATH", None)
        return {
            **inherited,
            "PYSPARK_PYTHON": str(contestant.python),
            "LOAD_SOURCE": self._server.dsn(WORK if inside else day),
            "LOAD_TARGET": self._server.dsn(WORK) if load.target == "postgres" else target,
            "LOAD_KIND": load.target,
            "LOAD_MODE": load.mode,
            "LOAD_PATH": contestant.path,
            "LOAD_ROWS": str(self._rows),
            "LOAD_SECONDS": str(work / "seconds"),
        }

    def _judge(self, contestant: Contestant, load: Load, day: str) -> None:
        """Compare the target's rows with what is right, or raise `Failed`."""
        import duckdb

        try:
            self._compare_rows(contestant, load, day)
        except (psycopg.Error, duckdb.Error) as error:
            raise Failed(f"the target cannot be read: {error}") from error

    def _compare_rows(self, contestant: Contestant, load: Load, day: str) -> None:
        if load.mode != "scd2":
            _compare("rows", self._target_print(load), self._expected[day])
            return
        past = f"NOT ({contestant.current})"
        replaced = Fingerprint(0, 0) if day == FIRST else self._expected[REPLACED]
        _compare("current rows", self._target_print(load, contestant.current), self._expected[day])
        _compare("closed rows", self._target_print(load, past), replaced)

    def _source_print(self, day: str, where: str = "true") -> Fingerprint:
        query = orders.fingerprint(orders.TABLE, "postgres", where)
        rows, total = self._server.fetch(day, query)
        return Fingerprint(rows, int(total))

    def _target_print(self, load: Load, where: str = "true") -> Fingerprint:
        query = orders.fingerprint("mart.orders", load.target, where)
        if load.target == "postgres":
            rows, total = self._server.fetch(WORK, query)
            return Fingerprint(rows, int(total))
        import duckdb

        file = str(self._folder / WORK / "warehouse.duckdb")
        with duckdb.connect(file, read_only=True) as database:
            database.execute("SET TimeZone = 'UTC'")
            found = database.execute(query).fetchone()
        assert found is not None
        return Fingerprint(found[0], int(found[1]))


def _check_claim(contestant: Contestant, environ: dict[str, str], folder: Path) -> None:
    """Make sure that the run was what its line in the table says, or raise `Failed`."""
    told = json.loads(_flow(contestant, environ, folder, "runs", "--format", "json"))
    mine = [run for run in told["runs"] if run["pipeline"] == "load_orders"]
    last = max(mine, key=lambda run: run["started_at"])
    mode = (last["engine"] or {}).get("mode")
    if contestant.start == "warm" and mode != "warm":
        raise Failed(f"did not use the warm engine, but one that is {mode}")
    if last["path"] != contestant.path:
        raise Failed(f"did not take the path {contestant.path}, but {last['path']}")


def _times_itself(contestant: Contestant) -> bool:
    """Say whether the script's own clock counts: where its engine is up before the load."""
    return contestant.start == "warm" and not contestant.is_flow


def _compare(what: str, found: Fingerprint, right: Fingerprint) -> None:
    if found.rows != right.rows:
        raise Failed(f"wrong: {found.rows} {what} instead of {right.rows}")
    if found.total != right.total:
        raise Failed(f"wrong: the {what} have other values than the source")


def _flow(contestant: Contestant, environ: dict[str, str], folder: Path, *arguments: str) -> str:
    """Run a `flow` command that is not measured."""
    done = subprocess.run(
        [str(contestant.python), "-m", "ematix_flow.cli", *arguments],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failed(f"flow {' '.join(arguments)}: {(done.stdout + done.stderr)[-1500:].strip()}")
    return done.stdout
