"""Which run to carry out: a new one, or another attempt at one that never ended."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ematix_flow._base.clock import iso
from ematix_flow._base.ids import uuid7
from ematix_flow.engine.runs.context import Order, RunContext
from ematix_flow.observe.events import Noticed
from ematix_flow.record.run import Purpose, RunResult, RunStatus


@dataclass(frozen=True, slots=True)
class Begun:
    """The run to carry out, and those that end with it."""

    result: RunResult
    superseded: tuple[RunResult, ...]


def begin(pipeline: str, context: RunContext, order: Order) -> Begun:
    """Return a new run, or another attempt at one that never ended."""
    left_open = context.log.open_runs(pipeline)
    if order.run_id is not None:
        known = context.log.run(order.run_id)
        return Begun(_ordered(pipeline, context, order, known), ())
    # A part of the past that was being loaded again is not what a plain run is asked for.
    plain = [run for run in left_open if run.purpose is Purpose.RUN]
    if order.new or order.purpose is not Purpose.RUN or not plain:
        superseded = left_open if order.purpose is Purpose.RUN else ()
        return Begun(_ordered(pipeline, context, order, None), tuple(superseded))
    adopted = plain[0]
    how = "never ended" if adopted.status is RunStatus.RUNNING else "landed only in part"
    text = f"run {adopted.run_id} {how}; continuing it (--new starts another)"
    context.observer(Noticed(pipeline=pipeline, text=text))
    again = replace(
        adopted,
        status=RunStatus.RUNNING,
        attempt=adopted.attempt + 1,
        steps=(),
        ended_at=None,
        error=None,
    )
    return Begun(again, tuple(run for run in left_open if run is not adopted))


def _ordered(
    pipeline: str, context: RunContext, order: Order, known: RunResult | None
) -> RunResult:
    """Return the run that *order* asks for; *known* is an earlier attempt at it."""
    now = context.clock.now()
    return RunResult(
        run_id=order.run_id or str(uuid7(now)),
        pipeline=pipeline,
        status=RunStatus.RUNNING,
        started_at=known.started_at if known else iso(now),
        attempt=known.attempt + 1 if known else 1,
        purpose=order.purpose,
        replay_of=order.replay_of,
        window=order.window,
    )
