"""Which part of an incremental source is read: for all targets, and for each that lacks less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ematix_flow.errors import PlanError
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.window import Ends, Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """What is read once, and what each target takes of it; None takes all."""

    shared: Window | None
    own: tuple[Window | None, ...]


def windows_of(
    pipeline: Pipeline, watermarks: Sequence[str | None], given: Ends | None, *, again: bool
) -> Windows:
    """Return the windows of a run.

    :param watermarks: How far each target has come.
    :param given: The window that the run is asked for, instead of what is new.
    :param again: Whether it was loaded before; else no target takes what it has.
    """
    column, lookback = pipeline.read.incremental_column, pipeline.read.lookback
    nothing = Windows(shared=None, own=(None,) * len(watermarks))
    if column is None:
        if given is not None and given != (None, None):
            raise _without_column(pipeline, given, again=again)
        return nothing
    own = [Window.above(column, each, lookback) for each in watermarks]
    # The texts sort like the values.
    least = None if None in watermarks else min(each for each in watermarks if each is not None)
    new = Window.above(column, least, lookback)
    shared = new if given is None else Window.of(column, given)
    if given is not None and not again and _begins_before(new, shared):
        # A target that came to the pipeline since has nothing of what lies below.
        shared = Window.of(column, (new.ends[0], given[1]))
    for window in (shared, *own):
        _require_sense(window, pipeline)
    return Windows(
        shared=shared,
        own=tuple(
            None if again or each.ends[0] in (None, shared.ends[0]) else each for each in own
        ),
    )


def _without_column(pipeline: Pipeline, given: Ends, *, again: bool) -> PlanError:
    """Build the error for a part that nothing tells from the rest."""
    if again:
        return PlanError(
            f"pipeline {pipeline.name!r} has no incremental_column to read a part of",
            where=pipeline.location,
            hint='name the column that grows: incremental_column="updated_at"',
        )
    part = " and ".join(each for each in given if each is not None)
    return PlanError(
        f"the run of pipeline {pipeline.name!r} that is to be continued had begun to read {part}, "
        "and the pipeline has no incremental_column any more",
        where=pipeline.location,
        hint="declare the column again and run; or let that run be, and begin with what is "
        f"declared now: `flow run {pipeline.name} --new`",
    )


def _begins_before(one: Window, other: Window) -> bool:
    if other.ends[0] is None or one.ends[0] is None:
        return one.ends[0] is None and other.ends[0] is not None
    mine, theirs = one.bounds[0].cursor, other.bounds[0].cursor
    return mine.compares_with(theirs) and not theirs.is_at_most(mine)


def _require_sense(window: Window, pipeline: Pipeline) -> None:
    try:
        bounds = window.bounds
    except ValueError as error:
        raise PlanError(
            f"lookback of pipeline {pipeline.name!r}: {error}",
            where=pipeline.location,
            hint="a duration goes with a date or a timestamp, a whole number with a number",
        ) from None
    if window.start is not None and window.end is not None:
        first, last = (each.cursor for each in bounds)
        if first.compares_with(last) and not first.is_at_most(last):
            raise PlanError(
                f"the window of pipeline {pipeline.name!r} ends before it begins: {window}",
                where=pipeline.location,
            )
