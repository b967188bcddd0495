"""Who takes part, with which loads, and how each is started."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
PEERS = Path(__file__).resolve().parent / "peers"
MODES = ("append", "merge", "scd2")
Start = Literal["new process", "warm"]
Place = Literal["between databases", "in one database"]


class Load(NamedTuple):
    """What is loaded into: the kind of target and the mode."""

    target: str
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One way to load.

    :param environment: The folder of its virtual environment, below the repository.
    :param ours: This repository's own.
    :param start: A warm one has its engine up, and a load behind it, before the clock starts.
    :param place: Whether the source is in the target's own database.
    :param path: Where ours lets the rows go through.
    :param current: The condition of the current rows of a history.
    """

    name: str
    label: str
    command: tuple[str, ...]
    loads: tuple[Load, ...]
    environment: str = ".venv"
    ours: bool = False
    start: Start = "new process"
    place: Place = "between databases"
    path: str = "direct"
    current: str = "is_current"

    @property
    def python(self) -> Path:
        """Return its Python; ours and Spark's are the one that runs the contest."""
        if self.environment == ".venv":
            return Path(sys.executable)
        return ROOT / self.environment / "bin" / "python"

    @property
    def is_flow(self) -> bool:
        """Say whether it is a `flow run`, and so wants a project and may have a warm engine."""
        return self.ours


def _loads(*targets: str, modes: tuple[str, ...] = MODES) -> tuple[Load, ...]:
    return tuple(Load(target, mode) for target in targets for mode in modes)


_FLOW = ("-m", "ematix_flow.cli", "run", "load_orders")
_SPARK = (str(PEERS / "spark_jdbc.py"), "{mode}")
_FLOW_1 = (str(PEERS / "ematix_flow_1.py"), "{mode}")
_DLT = (str(PEERS / "dlt_load.py"), "{mode}", "{target}")

CONTESTANTS = (
    Contestant(
        name="flow",
        label="ematix_flow",
        command=_FLOW,
        loads=_loads("postgres", "duckdb"),
        ours=True,
    ),
    Contestant(
        name="flow-spark",
        label="ematix_flow, through Spark",
        command=_FLOW,
        loads=_loads("postgres"),
        ours=True,
        path="spark",
    ),
    Contestant(
        name="flow-spark-warm",
        label="ematix_flow, warm Spark",
        command=_FLOW,
        loads=_loads("postgres"),
        ours=True,
        start="warm",
        path="spark",
    ),
    Contestant(
        name="flow-in-database",
        label="ematix_flow, in the database",
        command=_FLOW,
        loads=_loads("postgres"),
        ours=True,
        place="in one database",
        path="in_database",
    ),
    Contestant(
        name="spark",
        label="Spark JDBC",
        command=_SPARK,
        loads=_loads("postgres", modes=("append", "merge")),
    ),
    Contestant(
        name="spark-warm",
        label="Spark JDBC, warm session",
        command=(*_SPARK, "warm"),
        loads=_loads("postgres", modes=("append", "merge")),
        start="warm",
    ),
    Contestant(
        name="ematix-flow-1",
        label="ematix-flow 1.0",
        command=_FLOW_1,
        loads=_loads("postgres"),
        environment=".venv-ematix-flow-1",
    ),
    Contestant(
        name="ematix-flow-1-in-database",
        label="ematix-flow 1.0, in the database",
        command=_FLOW_1,
        loads=_loads("postgres"),
        environment=".venv-ematix-flow-1",
        place="in one database",
    ),
    Contestant(
        name="dlt",
        label="dlt",
        command=_DLT,
        loads=_loads("postgres", "duckdb"),
        environment=".venv-dlt",
        current="_dlt_valid_to IS NULL",
    ),
    Contestant(
        name="dlt-arrow",
        label="dlt, own Arrow source",
        command=(*_DLT, "arrow"),
        loads=_loads("postgres", "duckdb"),
        environment=".venv-dlt",
        current="_dlt_valid_to IS NULL",
    ),
)


def chosen(only: list[str]) -> list[tuple[Contestant, Load]]:
    """Return the contestants' loads that *only* picks: NAME, or NAME:MODE, or NAME:TARGET:MODE.

    A name is a contestant's whole name; nothing picks all.
    """
    found = [(each, load) for each in CONTESTANTS for load in each.loads]
    if not only:
        return found
    known = {each.name for each in CONTESTANTS}
    picks = [tuple(text.split(":")) for text in only]
    for pick in picks:
        if pick[0] not in known:
            raise SystemExit(f"--only {pick[0]}: there are {', '.join(sorted(known))}")
    return [
        (each, load)
        for each, load in found
        if any(pick[0] == each.name and set(pick[1:]) <= {load.target, load.mode} for pick in picks)
    ]
