"""A plan: the steps of one run, and everything a person wants to know before it."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.plan.diff import SchemaDiff
from ematix_flow.plan.steps import Step
from ematix_flow.resolve.dependencies import Dependency
from ematix_flow.resolve.freshness import UpstreamState
from ematix_flow.resolve.keys import KeyChoice
from ematix_flow.spec.lineage import Lineage
from ematix_flow.spec.modes import Mode, Path
from ematix_flow.spec.pipeline import Expectation
from ematix_flow.spec.window import Window

__all__ = ["Plan", "TargetPlan", "Window"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetPlan:
    """What a run will do to one target.

    :param destructive: The changes that need consent, in words.
    """

    connection: str
    target: str
    mode: Mode
    exists: bool
    last_commit: str | None
    keys: KeyChoice | None = None
    diff: SchemaDiff | None = None
    destructive: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a run of one pipeline will do.

    What is said of the target is said of the first one; *targets* has them all.

    :param window: The part of the incremental column that is read.

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
    targets: tuple[TargetPlan, ...]
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
