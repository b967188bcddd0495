"""Loading a part of the past again, chunk by chunk.

Each chunk is a run with its own commit. What landed is in the target's ledger, so a backfill
that was stopped goes on with the first chunk that did not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ematix_flow._base.ids import uuid7
from ematix_flow.engine.runs.chunks import chunks
from ematix_flow.engine.runs.context import Order, RunContext
from ematix_flow.engine.runs.run import run_pipeline
from ematix_flow.errors import FlowError, PipelineBusy, PlanError, UnexpectedError
from ematix_flow.plan.plan import Plan
from ematix_flow.record.backfills import Backfill, Backfills
from ematix_flow.record.lease import pipeline_lease
from ematix_flow.record.run import Purpose, RunResult, RunStatus
from ematix_flow.spec.counts import RowCounts
from ematix_flow.spec.cursor import Cursor
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.window import Ends, Window
from ematix_flow.write.landed import landed_of, last_landed


class ChunkStatus(StrEnum):
    """What became of a chunk."""

    LOADED = "loaded"
    SKIPPED = "skipped"
    """It had landed before."""
    FAILED = "failed"
    WAITING = "waiting"
    """An earlier one failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One chunk of a backfill."""

    window: Ends
    status: ChunkStatus
    run_id: str
    rows: RowCounts | None = None
    error: FlowError | None = None

    def to_json(self) -> dict[str, object]:
        """Return the chunk as `flow backfill --format json` shows it."""
        return {
            "window": list(self.window),
            "status": self.status.value,
            "run_id": self.run_id,
            "rows": self.rows.to_json() if self.rows else None,
            "error": self.error.to_json() if self.error else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillResult:
    """What a backfill has done."""

    pipeline: str
    resumed: bool
    chunks: tuple[Chunk, ...]

    @property
    def error(self) -> FlowError | None:
        """The first failure."""
        return next((each.error for each in self.chunks if each.error), None)

    @property
    def status(self) -> RunStatus:
        """How it ended."""
        return RunStatus.FAILED if self.error else RunStatus.SUCCEEDED

    def to_json(self) -> dict[str, object]:
        """Return the result as `flow backfill --format json` shows it."""
        return {
            "pipeline": self.pipeline,
            "status": self.status.value,
            "resumed": self.resumed,
            "chunks": [each.to_json() for each in self.chunks],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """What to load again.

    :param start: The first value of the incremental column, as a person writes it.
    :param end: The first value that is not loaded any more.
    :param chunk: How much one run loads: a duration, or a number; None loads all at once.
    """

    start: str
    end: str
    chunk: str | None = None


def run_backfill(
    pipeline: str,
    context: RunContext,
    part: Range,
    *,
    keep_going: bool = False,
    new: bool = False,
    on_chunk: Callable[[int, int, Chunk], None] = lambda *_: None,
) -> BackfillResult:
    """Load *part* and say what became of each chunk; failures are in the result.

    :param keep_going: Go on with the next chunk when one has failed, where that is safe: rows that
        lie above the watermark and are only appended would be added again by the next run.
    :param new: Begin again even if the same backfill never ended.
    """
    windows = chunks(part.start, part.end, part.chunk)
    # Whatever is wrong with the pipeline is found before there is a backfill to go on with.
    plan = context.plan(windows[0], again=True)
    reached = _watermarks(plan, context)
    kept = Backfills(context.state_directory / "backfills")
    wanted = Backfill(
        id=str(uuid7(context.clock.now())),
        pipeline=pipeline,
        start=part.start,
        end=part.end,
        chunk=part.chunk,
        moves_watermark=_joins(part, reached),
    )
    # Under the lease: two that begin at once must not both note their own.
    with pipeline_lease(context.state_directory / "leases", pipeline, context.clock):
        backfill, resumed = kept.begin(wanted, new=new)
    if not backfill.moves_watermark:
        _require_matching(plan, part)
    run_ids = [backfill.run_id(number) for number in range(len(windows))]
    landed = _landed_everywhere(plan, context, run_ids) if resumed else set()
    may_follow = [
        keep_going and (not _appends(plan) or _is_below(each, reached)) for each in windows
    ]
    done: list[Chunk] = []
    for chunk in _loaded(backfill, context, windows, landed, may_follow):
        done.append(chunk)
        on_chunk(len(done), len(windows), chunk)
    result = BackfillResult(pipeline=pipeline, resumed=resumed, chunks=tuple(done))
    if result.error is None:
        kept.end(backfill)
    return result


def _watermarks(plan: Plan, context: RunContext) -> tuple[str | None, ...]:
    """Return how far each target has come, as the targets say."""
    entries = (
        last_landed(context.target(load.commit.connection), plan.pipeline, load.commit.target)
        for load in plan.loads
    )
    return tuple(entry.watermark if entry else None for entry in entries)


def _landed_everywhere(plan: Plan, context: RunContext, run_ids: Sequence[str]) -> set[str]:
    """Return which runs have landed in every target, as the targets say."""
    landed = set(run_ids)
    for load in plan.loads:
        target = context.target(load.commit.connection)
        landed &= landed_of(target, plan.pipeline, load.commit.target, landed).keys()
    return landed


def _joins(part: Range, reached: tuple[str | None, ...]) -> bool:
    """Tell whether no gap is left between what was loaded and *part*.

    Where nothing was loaded yet, it is the beginning.
    """
    if not any(reached):
        return True
    start = Cursor.read(part.start)
    return all(mark and start.is_at_most(Cursor.read(mark)) for mark in reached)


def _appends(plan: Plan) -> bool:
    return any(target.mode is Mode.APPEND for target in plan.targets)


def _is_below(window: Ends, reached: tuple[str | None, ...]) -> bool:
    """Tell whether no later run reads anything of *window* again."""
    *_, last = Window.of("", window).bounds
    return all(mark and last.cursor.is_at_most(Cursor.read(mark)) for mark in reached)


def _require_matching(plan: Plan, part: Range) -> None:
    """Refuse to add rows that the next run, which reads from the watermark, would add again."""
    if _appends(plan):
        raise PlanError(
            f"pipeline {plan.pipeline!r} has not come as far as {part.start}: its next run would "
            "append the rows of this range a second time",
            where=plan.location,
            hint=f"`flow run {plan.pipeline}` first, or begin the range where it has come to",
        )


def _loaded(
    backfill: Backfill,
    context: RunContext,
    windows: tuple[Ends, ...],
    landed: set[str],
    may_follow: Sequence[bool],
) -> Iterator[Chunk]:
    """Load chunk by chunk.

    :param may_follow: Which chunks are loaded though one before them has failed.
    """
    failed, stopped, moves = False, False, backfill.moves_watermark
    for number, window in enumerate(windows):
        run_id = backfill.run_id(number)
        if stopped or (failed and not may_follow[number]):
            yield Chunk(window=window, status=ChunkStatus.WAITING, run_id=run_id)
        elif run_id in landed and _is_recorded(context, run_id):
            yield Chunk(window=window, status=ChunkStatus.SKIPPED, run_id=run_id)
        else:
            chunk = _load(backfill.pipeline, context, window, run_id, moves_watermark=moves)
            # Beyond a chunk that is missing, nothing may be taken for loaded.
            moves = moves and chunk.error is None
            failed = failed or chunk.error is not None
            stopped = isinstance(chunk.error, PipelineBusy)
            yield chunk


def _load(
    pipeline: str, context: RunContext, window: Ends, run_id: str, *, moves_watermark: bool
) -> Chunk:
    order = Order(
        purpose=Purpose.BACKFILL, run_id=run_id, window=window, moves_watermark=moves_watermark
    )
    try:
        done = run_pipeline(pipeline, context, order)
    except Exception as error:  # noqa: BLE001  # it is told, and decides about the rest
        told = error if isinstance(error, FlowError) else UnexpectedError.of(error)
        return Chunk(window=window, status=ChunkStatus.FAILED, run_id=run_id, error=told)
    return Chunk(window=window, status=_status(done), run_id=run_id, rows=done.rows)


def _status(done: RunResult) -> ChunkStatus:
    return ChunkStatus.SKIPPED if done.adopted else ChunkStatus.LOADED


def _is_recorded(context: RunContext, run_id: str) -> bool:
    """Tell whether the end of a run is on record; if not, running it again only records it."""
    known = context.log.run(run_id)
    return known is None or known.status is not RunStatus.RUNNING
