"""The ledger: the target's own memory of what was committed to it."""

from __future__ import annotations

from datetime import datetime, timedelta

from ematix_flow._base.clock import iso
from ematix_flow.ports import LedgerEntry, TargetSession
from ematix_flow.sqltext.bookkeeping import LEDGER, Bookkeeping

# Batch runs have one generation; streams open a new one with each new checkpoint.
_GENERATION = 0
_EPOCH = 0


# Older entries are forgotten: a run that died longer ago than this is not adopted safely.
_KEPT = timedelta(days=90)


def last_commit(
    session: TargetSession, sql: Bookkeeping, pipeline: str, target: str
) -> LedgerEntry | None:
    """Return the last commit of *pipeline* into *target*, if any; the ledger must be there."""
    return _entry(session, sql.read_last, (pipeline, target))


def entry_of_run(
    session: TargetSession, sql: Bookkeeping, pipeline: str, target: str, run_id: str
) -> LedgerEntry | None:
    """Return what *run_id* committed, if it did, whatever was committed after it."""
    if session.columns(LEDGER.name) is None:
        return None
    return _entry(session, sql.read_run, (pipeline, target, run_id))


def write_entry(
    session: TargetSession,
    sql: Bookkeeping,
    *,
    pipeline: str,
    target: str,
    run_id: str,
    inserted: int,
    deleted: int,
    now: datetime,
) -> None:
    """Add the run's entry. Must run inside the committing transaction."""
    session.execute(sql.prune_ledger, (pipeline, target, iso(now - _KEPT)))
    session.execute(
        sql.insert_ledger,
        (
            *(pipeline, target, _GENERATION, run_id, _EPOCH),
            *(None, None, None),  # window and watermark come with incremental loads
            *(inserted, deleted, iso(now)),
        ),
    )


def _entry(session: TargetSession, query: str, parameters: tuple[str, ...]) -> LedgerEntry | None:
    rows = session.fetch(query, parameters)
    if not rows:
        return None
    run_id, committed_at, inserted, deleted, watermark = rows[0]
    return LedgerEntry(
        run_id=str(run_id),
        committed_at=str(committed_at),
        rows_inserted=int(str(inserted)),
        rows_deleted=int(str(deleted)),
        watermark=None if watermark is None else str(watermark),
    )
