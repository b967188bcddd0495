"""A plan: the steps of one run, and everything a person wants to know before it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ematix_flow.plan.diff import SchemaDiff
from ematix_flow.plan.steps import Step
from ematix_flow.resolve.dependencies import Dependency
from ematix_flow.resolve.freshness import UpstreamState
from ematix_flow.resolve.keys import KeyChoice
from ematix_flow.spec.lineage import Lineage
from ematix_flow.spec.modes import Mode, Path
from ematix_flow.spec.pipeline import Expectation


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which part of an incremental source is read.

    :param above: The last committed value of the column; None reads everything.
    """

    column: str
    above: str | None
    lookback: timedelta | int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run of one pipeline will do.

    :param why: Why it would run now.
    :param blockers: What this version cannot do yet; with any, the pipeline is not run.
    :param analysed: False for frame code whose reads and columns only Spark can tell.
    """

    pipeline: str
    location: str
    mode: Mode
    source_connection: str | None
    target_connection: str
    target: str
    why: str
    path: Path
    path_why: str
    steps: tuple[Step, ...]
    connectors: tuple[str, ...]
    input_bytes: int | None
    target_exists: bool
    last_commit: str | None
    depends_on: tuple[Dependency, ...] = ()
    upstreams: tuple[UpstreamState, ...] = ()
    keys: KeyChoice | None = None
    window: Window | None = None
    diff: SchemaDiff | None = None
    expectations: tuple[Expectation, ...] = ()
    destructive: tuple[str, ...] = ()
    lineage: Lineage | None = None
    analysed: bool = True
    blockers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
