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
from ematix_flow.engine.batch.loading import Loading
from ematix_flow.engine.batch.outcome import failed, succeeded
from ematix_flow.engine.batch.ports import BatchPorts
from ematix_flow.engine.batch.step_times import StepTimes
from ematix_flow.engine.spark.errors import translating
from ematix_flow.errors import FenceLost, FlowError
from ematix_flow.observe.events import Noticed
from ematix_flow.plan.explain import describe
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import AfterStep, CallAfter, LoadSteps, Prepare, RunAfter
from ematix_flow.ports import LedgerEntry
from ematix_flow.record.run import RunStatus, TargetOutcome
from ematix_flow.spec.window import Ends
from ematix_flow.write.after import call_after, run_after
from ematix_flow.write.fence import lost_after_landing
from ematix_flow.write.staging_table import sweep_staging_tables

if TYPE_CHECKING:
    from pyarrow import Table


@dataclass(slots=True, kw_only=True)
class BatchWalk:
    """One run of one plan; each field is what the steps so far have produced.

    :param quarantine: The file for rows that are set aside, by the number of the target.
    :param landed: What each target has of this run already, from an earlier attempt.
    :param continue_on_failure: Whether the failure of one target leaves the others to be loaded.
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
    continue_on_failure: bool = False
    window: Ends = (None, None)
    moves_watermark: bool = True
    dry: bool = False
    outcomes: dict[int, TargetOutcome] = field(default_factory=dict)
    commit_began: bool = False
    is_after: bool = False
    _failures: list[Exception] = field(default_factory=list)
    _held: ExitStack = field(default_factory=ExitStack)
    _sources: ExitStack = field(default_factory=ExitStack)
    _times: StepTimes = field(init=False)
    _frames: FrameSteps = field(init=False)

    def __post_init__(self) -> None:
        """Set the clock of the steps, and who describes the rows."""
        self._times = StepTimes(
            pipeline=self.plan.pipeline,
            clock=self.ports.clock,
            observer=self.ports.observer,
            on_step=self.ports.on_step,
        )
        self._frames = FrameSteps(
            plan=self.plan,
            ports=self.ports,
            times=self._times,
            scratch=self.scratch,
            held=self._held,
            sources=self._sources,
        )

    def walk(self) -> None:
        """Walk all steps; *outcomes* says what became of each target, also when this raises."""
        for number, done in enumerate(self.landed):
            if done is not None:
                self.outcomes[number] = succeeded(self.plan.loads[number].commit, done)
        try:
            self._walk()
        except FenceLost as lost:
            has_rows = [each for each in self.in_order() if each.status is RunStatus.SUCCEEDED]
            if self.dry or not has_rows:
                raise
            names = (each.target for each in has_rows)
            raise lost_after_landing(self.plan.pipeline, names) from lost

    def _walk(self) -> None:
        with self._held:
            with self._sources:
                self._sweep()
                self._load_all()
            # What follows may alter the sources, so nothing of theirs is held any more.
            self.is_after = True
            for step in () if self.dry else self.plan.after:
                self._after(step)

    def judged(self, rows: int) -> Table:
        """Return the first *rows* as they would be staged for the first target; writes nothing."""
        frames = self._frames
        with self._held, self._sources:
            for step in self.plan.rows:
                frames.walk(step)
            frames.frame = frames.rows.limit(rows)
            for shaping in self.plan.loads[0].shape:
                frames.walk(shaping)
            with translating():
                found: Table = frames.rows.limit(rows).toArrow()
            return found

    def interrupt(self) -> None:
        """End Spark's work; called by another thread."""
        self._frames.interrupt(self.run_id)

    def in_order(self) -> tuple[TargetOutcome, ...]:
        """Return what became of the targets, in the order of their declaration."""
        return tuple(self.outcomes[number] for number in sorted(self.outcomes))

    def _sweep(self) -> None:
        """Drop what earlier runs left on the targets, also those that took another way there."""
        for step in (load.commit for load in self.plan.loads):
            self.ports.require_lease()
            target = self.ports.target(step.connection)
            try:
                sweep_staging_tables(target, self.plan.pipeline, step, dry=self.dry)
            except FlowError as error:
                text = f"what an earlier run left in staging stays for the next ({error.what})"
                self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))

    def _load_all(self) -> None:
        for number, load in () if self.dry else self._waiting():
            with self._outcome_of(number, load):
                self._prepare(load.prepare)
        waiting = self._waiting()
        for step in self.plan.rows if waiting else ():
            self._frames.walk(step)
        # Computed once for several targets: two of them must not see two sources.
        if len(waiting) > 1 and self._frames.frame is not None:
            self._frames.keep()
        made = self._frames.frame
        for number, load in waiting:
            self._frames.frame = made
            with self._outcome_of(number, load):
                self.outcomes[number] = self._loading(number, load).carry_out()
        if self._failures:
            raise self._failures[0]

    def _loading(self, number: int, load: LoadSteps) -> Loading:
        return Loading(
            plan=self.plan,
            run_id=self.run_id,
            number=number,
            load=load,
            ports=self.ports,
            times=self._times,
            frames=self._frames,
            scratch=self.scratch,
            quarantine=self.quarantine(number),
            window=self.window,
            moves_watermark=self.moves_watermark,
            dry=self.dry,
            on_commit=self._begin_commit,
        )

    def _begin_commit(self) -> None:
        self.commit_began = True

    def _waiting(self) -> list[tuple[int, LoadSteps]]:
        return [pair for pair in enumerate(self.plan.loads) if pair[0] not in self.outcomes]

    @contextmanager
    def _outcome_of(self, number: int, load: LoadSteps) -> Iterator[None]:
        """Keep the failure of one target from the others, where that is wanted."""
        try:
            yield
        except Exception as error:
            # Whatever it looks like, it was ended because the lease was lost.
            self.ports.require_lease()
            self.outcomes[number] = failed(load.commit, error)
            if not self.continue_on_failure or len(self.landed) == 1:
                raise
            self._failures.append(error)
            text = f"{load.commit.target} failed, the other targets go on: {error}"
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))

    def _prepare(self, step: Prepare) -> None:
        self.ports.require_lease()
        agreed = step.optional if self.ports.allow_destructive else ()
        wanted = (*step.ddl, *step.destructive, *agreed)
        with self._times.of(step.name, describe(step)):
            if not wanted:
                return
            with self.ports.target(step.connection).open() as session:
                for statement in wanted:
                    session.execute(statement)

    def _after(self, step: AfterStep) -> None:
        self.ports.require_lease()
        target = self.ports.target(step.connection)
        try:
            with self._times.of(step.name, describe(step)), translating():
                match step:
                    case RunAfter():
                        run_after(target, step.sql)
                    case CallAfter():
                        call_after(step, target, lambda: self._frames.spark)
        except Exception as error:
            # Whatever it looks like, it was ended because the lease was lost.
            self.ports.require_lease()
            if not step.continue_on_failure:
                raise
            text = f"the rows are loaded, but a step after it failed: {error}"
            self.ports.observer(Noticed(pipeline=self.plan.pipeline, text=text))
