"""What a run needs from its surroundings, and what it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from ematix_flow._base.clock import Clock
from ematix_flow.engine.batch.ports import OpenEngineLate
from ematix_flow.observe.events import Observer
from ematix_flow.plan.plan import Plan
from ematix_flow.ports import Reader, Target
from ematix_flow.record.run import Purpose, RunResult
from ematix_flow.record.run_log import RunLog
from ematix_flow.spec.window import Ends
from ematix_flow.write.fence import Claim
from ematix_flow.write.staging import StagingArea


class PlanRun(Protocol):
    """Plans the pipeline of a run."""

    def __call__(
        self, window: Ends | None = None, *, again: bool = False, dry: bool = False
    ) -> Plan:
        """Return the plan over a given window, or over what is new.

        :param again: Whether the window was loaded before.
        :param dry: Whether all of it will be undone.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a run is asked for beyond what its pipeline says.

    :param new: Load again even if a run that died had already landed.
    :param run_id: The id to use, so that a repeated order finds what it had done.
    :param window: The part of the incremental column to read, instead of what is new.
    :param moves_watermark: Whether later runs go on from where this one ends.
    """

    new: bool = False
    purpose: Purpose = Purpose.RUN
    run_id: str | None = None
    window: Ends | None = None
    moves_watermark: bool = True
    replay_of: str | None = None
    allow_destructive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What a run needs from its surroundings.

    :param holder: This project on this machine, as a lease names it.
    :param targets: The connections that the pipeline writes to.
    :param target_at: A target as if its database were another file.
    :param database_file: The file that a connection's database is, if it is one.
    :param continue_on_failure: Whether the failure of one target leaves the others to be loaded.
    """

    state_directory: Path
    log: RunLog
    clock: Clock
    observer: Observer
    reader: Callable[[str], Reader]
    target: Callable[[str], Target]
    plan: PlanRun
    staging_root: Callable[[], Path]
    open_engine: Callable[[Plan], OpenEngineLate]
    holder: Callable[[], str]
    targets: tuple[str, ...]
    database_file: Callable[[str], Path | None]
    target_at: Callable[[str, Path], Target]
    lease_ttl: timedelta
    continue_on_failure: bool = False

    def staging_of(self, plan: Plan) -> StagingArea:
        """Return where the rows of *plan* are staged."""
        # Without an engine, there is no other that has to see this disk.
        own = self.state_directory / "staging"
        root = self.staging_root() if plan.path.needs_engine else own
        return StagingArea(root / plan.pipeline)


def claim_of(result: RunResult, context: RunContext) -> Claim:
    """Return who asks for the leases of a run."""
    return Claim(
        pipeline=result.pipeline,
        holder=context.holder(),
        run_id=result.run_id,
        ttl=context.lease_ttl,
    )
