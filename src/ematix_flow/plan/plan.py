"""A plan: the steps of one run, and everything a person wants to know before it."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.plan.diff import SchemaDiff
from ematix_flow.plan.steps import AfterStep, LoadSteps, RowStep, Step
from ematix_flow.resolve.dependencies import Dependency
from ematix_flow.resolve.freshness import UpstreamState
from ematix_flow.resolve.keys import KeyChoice
from ematix_flow.spec.lineage import Lineage
from ematix_flow.spec.modes import Mode, Path
from ematix_flow.spec.pipeline import Expectation
from ematix_flow.spec.window import Ends, Window


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

    :param why: Why it would run now.
    :param rows: The steps that make the rows, for all targets.
    :param loads: What brings them into each target, as in *targets*.
    :param after: What follows when all are committed.
    :param window: The part of the incremental column that is read.
    :param analysed: False for frame code whose reads and columns only Spark can tell.
    :param blockers: What this version cannot do yet, or what is not installed for it; with any, the
        pipeline is not run.
    """

    pipeline: str
    location: str
    source_connection: str | None
    why: str
    path: Path
    path_why: str
    rows: tuple[RowStep, ...]
    loads: tuple[LoadSteps, ...]
    after: tuple[AfterStep, ...]
    targets: tuple[TargetPlan, ...]
    connectors: tuple[str, ...]
    input_bytes: int | None
    depends_on: tuple[Dependency, ...] = ()
    upstreams: tuple[UpstreamState, ...] = ()
    window: Window | None = None
    expectations: tuple[Expectation, ...] = ()
    lineage: Lineage | None = None
    analysed: bool = True
    blockers: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps in order: what `explain` prints is what the engine walks."""
        return (
            *(load.prepare for load in self.loads),
            *self.rows,
            *(step for load in self.loads for step in load.steps),
            *self.after,
        )

    @property
    def first(self) -> TargetPlan:
        """The target that stands for the pipeline where there is room for one."""
        return self.targets[0]

    @property
    def destructive(self) -> tuple[str, ...]:
        """The changes of all targets that need consent, in words."""
        return tuple(each for target in self.targets for each in target.destructive)

    @property
    def ends(self) -> Ends | None:
        """What of the incremental column is read; None where there is no such column."""
        return None if self.window is None else self.window.ends
