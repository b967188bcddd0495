"""Walking the steps of a batch plan.

The same steps that `explain` prints, one after the other. Reading, transforming and
judging only describe the work; `stage` runs the one Spark job, `commit` the one transaction.
Each target is staged and committed for itself, so one that fails undoes no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.engine.batch.frame_steps import FrameSteps
from ematix_flow.engine.batch.groups import Grouped, TargetSteps, by_target
from ematix_flow.engine.batch.loading import Loading
from ematix_flow.engine.batch.outcome import failed, succeeded
from ematix_flow.engine.batch.ports import BatchPorts
from ematix_flow.engine.batch.step_times import StepTimes
from ematix_flow.engine.spark.errors import translating
from ematix_flow.engine.spark.interrupt import interrupt
from ematix_flow.engine.spark.opened import OpenEngine
from ematix_flow.observe.events import Noticed
from ematix_flow.plan.explain import describe
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import (
    CallAfter,
    Carry,
    Commit,
    Prepare,
    RunAfter,
    SelectInTarget,
    Stage,
    Step,
)
from ematix_flow.ports import LedgerEntry
from ematix_flow.record.run import TargetOutcome, Window
from ematix_flow.write.after import call_after, run_after

if TYPE_CHECKING:
    from pyarrow import Table


@dataclass(slots=True, kw_only=True)
class BatchWalk:
    """One run of one plan; each field is what the steps so far have produced.

    :param quarantine: The file for rows that are set aside, by the number of the target.
    :param landed: What each target has of this run already, from an earlier attempt.
    :param goes_on: Whether the failure of one target leaves the others to be loaded.
    :param window: The part of the incremental column that is read: above, and up to.
    :param moves_watermark: Whether later runs go on from where this one ends.
    :param dry: Count everything, then undo it; nothing is created or changed on the target.
    """

    plan: Plan
    run_id: str
    scratch: Path
    quarantine: Callable[[int], Path]
    ports: BatchPorts
    landed: tuple[LedgerEntry | None, ...]
    goes_on: bool = False
    window: Window = (None, None)
    moves_watermark: bool = True
    dry: bool = False
    outcomes: dict[int, TargetOutcome] = field(default_factory=dict)
    commit_began: bool = False
    is_after: bool = False
    _failures: list[Exception] = field(default_factory=list)
    _engine: OpenEngine | None = None
    _made: FrameSteps | None = None
    _sources: ExitStack = field(default_factory=ExitStack)
    _held: ExitStack = field(default_factory=ExitStack)
    _times: StepTimes = field(init=False)

    def __post_init__(self) -> None:
        """Set the clock of the steps."""
        self._times = StepTimes(
            pipeline=self.plan.pipeline,
            clock=self.ports.clock,
            observer=self.ports.observer,
            on_step=self.ports.on_step,
        )

    def walk(self) -> None:
        """Walk all steps; *outcomes* says what became of each target, also when this raises."""
        grouped = by_target(self.plan.steps)
        for number, done in enumerate(self.landed):
            if done is not None:
                self.outcomes[number] = succeeded(grouped.targets[number].commit, done)
        with self._held:
            with self._sources:
                self._load_all(grouped)
            # What follows may alter the sources, so nothing of theirs is held any more.
            self.is_after = True
            for step in () if self.dry else grouped.after:
                self._walk(step)

    def judged(self, rows: int) -> Table:
        """Return the first *rows* as they would be staged for the first target; writes nothing."""
        grouped = by_target(self.plan.steps)
        with self._held, self._sources:
            for step in grouped.shared:
                self._walk(step)
            made = self._rows_made()
            made.frame = made.rows.limit(rows)
            for step in grouped.targets[0].steps:
                if not isinstance(step, Stage | Commit):
                    self._walk(step)
            with translating():
                found: Table = made.rows.limit(rows).toArrow()
            return found

    def interrupt(self) -> None:
        """End Spark's work; called by another thread."""
        if self._engine is not None:
            interrupt(self._engine.session, self.run_id)

    def in_order(self) -> tuple[TargetOutcome, ...]:
        """Return what became of the targets, in the order of their declaration."""
        return tuple(self.outcomes[number] for number in sorted(self.outcomes))

    def _load_all(self, grouped: Grouped) -> None:
        for number, each in () if self.dry else self._waiting(grouped.targets):
            with self._outcome_of(number, each):
                self._walk(each.prepare)
        if waiting := self._waiting(grouped.targets):
            for step in grouped.shared:
                self._walk(step)
        # Computed once for several targets: two of them must not see two sources.
        if len(waiting) > 1 and self._made is not None:
            self._made.keep()
        made = self._made.frame if self._made else None
        for number, each in waiting:
            if self._made is not None:
                self._made.frame = made
            with self._outcome_of(number, each):
                self.outcomes[number] = self._loading(number, each).carry_out()
        if self._failures:
            raise self._failures[0]

    def _loading(self, number: int, target: TargetSteps) -> Loading:
        return Loading(
            plan=self.plan,
            run_id=self.run_id,
            number=number,
            target=target,
            ports=self.ports,
            times=self._times,
            scratch=self.scratch,
            quarantine=self.quarantine(number),
            window=self.window,
            moves_watermark=self.moves_watermark,
            dry=self.dry,
            made=self._rows_made,
            walk=self._walk,
            on_commit=self._begin_commit,
        )

    def _begin_commit(self) -> None:
        self.commit_began = True

    def _rows_made(self) -> FrameSteps:
        assert self._made is not None
        return self._made

    def _waiting(self, targets: tuple[TargetSteps, ...]) -> list[tuple[int, TargetSteps]]:
        return [pair for pair in enumerate(targets) if pair[0] not in self.outcomes]

    @contextmanager
    def _outcome_of(self, number: int, steps: TargetSteps) -> Iterator[None]:
        """Keep the failure of one target from the others, where that is wanted."""
        try:
            yield
        except Exception as error:
            # Whatever it looks like, it was ended because the lease was lost.
            self.ports.require_lease()
            self.outcomes[number] = failed(steps.commit, error)
            if not self.goes_on or len(self.landed) == 1:
                raise
            self._failures.append(error)
            text = f"{steps.commit.target} failed, the other targets go on: {error}"
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))

    def _walk(self, step: Step) -> None:
        self.ports.require_lease()
        if self._engine is None and not isinstance(step, Prepare | RunAfter):
            self._open_engine()
        with self._times.of(step.name, describe(step)), translating():
            self._do(step)

    def _open_engine(self) -> None:
        """Open it as late as possible: a busy target or a lost race costs no JVM."""
        with self._times.of("engine", "start or reach Spark"):
            self._engine = self._held.enter_context(self.ports.open_engine())
        self._made = FrameSteps(
            engine=self._engine,
            reader=self.ports.reader,
            location=self.plan.location,
            scratch=self.scratch,
            sources=self._sources,
        )
        self.ports.on_engine(self._engine.report)
        for note in self._engine.report.notes:
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=note))

    def _do(self, step: Step) -> None:
        match step:
            case Prepare():
                self._prepare(step)
            case RunAfter() | CallAfter():
                self._after(step)
            case Stage() | Carry() | SelectInTarget() | Commit():
                raise AssertionError("these belong to a target")
            case _:
                self._rows_made().do(step)

    def _prepare(self, step: Prepare) -> None:
        with self.ports.target(step.connection).open() as session:
            agreed = step.optional if self.ports.allow_destructive else ()
            for statement in (*step.ddl, *step.destructive, *agreed):
                session.execute(statement)

    def _after(self, step: RunAfter | CallAfter) -> None:
        target = self.ports.target(step.connection)
        try:
            if isinstance(step, RunAfter):
                run_after(target, step.sql)
            else:
                call_after(step, target, self._rows_made().spark)
        except Exception as error:
            if not step.goes_on:
                raise
            text = f"the rows are loaded, but a step after it failed: {error}"
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))
