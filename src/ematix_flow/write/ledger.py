"""The ledger: the target's own memory of what was committed to it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from ematix_flow._base.clock import iso
from ematix_flow.ports import LedgerEntry, TargetSession
from ematix_flow.spec.counts import RowCounts
from ematix_flow.sqltext.bookkeeping import LEDGER, Bookkeeping

# Batch runs have one generation; streams open a new one with each new checkpoint.
_GENERATION = 0
_EPOCH = 0

# Older entries are forgotten: a run that died longer ago than this is not adopted safely.
_KEPT = timedelta(days=90)
_A_MOMENT = timedelta(microseconds=1)


def last_commit(
    session: TargetSession,
    sql: Bookkeeping,
    pipeline: str,
    target: str,
    known: Collection[str] = LEDGER.column_names,
) -> LedgerEntry | None:
    """Return the last commit of *pipeline* into *target*, if any; the ledger must be there.

    :param known: The columns that the ledger has: an older one has fewer.
    """
    return _entry(session, sql.read_last(frozenset(known)), (pipeline, target))


def entry_of_run(
    session: TargetSession, sql: Bookkeeping, pipeline: str, target: str, run_id: str
) -> LedgerEntry | None:
    """Return what *run_id* committed, if it did, whatever was committed after it."""
    columns = session.columns(LEDGER.name)
    if columns is None:
        return None
    known = frozenset(each.name for each in columns)
    return _entry(session, sql.read_run(known), (pipeline, target, run_id))


def write_entry(
    session: TargetSession,
    sql: Bookkeeping,
    entry: LedgerEntry,
    *,
    pipeline: str,
    target: str,
    now: datetime,
) -> None:
    """Add the entry of a run. Must run inside the committing transaction."""
    session.execute(sql.prune_ledger, (pipeline, target, iso(now - _KEPT)))
    counts = entry.rows.to_json()
    session.execute(
        sql.insert_ledger,
        (
            *(pipeline, target, _GENERATION, entry.run_id, _EPOCH),
            *(*entry.window, entry.watermark),
            *(counts["inserted"], counts["deleted"], entry.committed_at),
            *(counts[name] for name in sql.later_counts),
        ),
    )


def moment_after(last: LedgerEntry | None, now: datetime) -> datetime:
    """Return the time of a commit: clocks go back and disagree, but the order must not."""
    if last is None:
        return now
    return max(now, datetime.fromisoformat(last.committed_at) + _A_MOMENT)


def watermark_after(last: LedgerEntry | None, reached: str | None) -> str | None:
    """Return how far the pipeline has got: never back, so that nothing is loaded twice.

    The texts name their type and sort like the values that they stand for.

    :param reached: The highest value of the incremental column among the rows; None where there
        is no such column or no row, or where a part of the past was loaded again.
    """
    before = last.watermark if last else None
    if reached is None:
        return before
    if before is None or _kind(before) != _kind(reached):
        return reached
    return max(before, reached)


def _kind(watermark: str) -> str:
    return watermark.partition(":")[0]


def _entry(session: TargetSession, query: str, parameters: tuple[str, ...]) -> LedgerEntry | None:
    rows = session.fetch(query, parameters)
    if not rows:
        return None
    run_id, committed_at, start, end, watermark, *counts = rows[0]
    named = zip(RowCounts.names(), counts, strict=True)
    return LedgerEntry(
        run_id=str(run_id),
        committed_at=str(committed_at),
        rows=RowCounts(**{name: int(str(count or 0)) for name, count in named}),
        window=(_text(start), _text(end)),
        watermark=_text(watermark),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
