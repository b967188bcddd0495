"""The ledger: the target's own memory of what was committed to it."""

from __future__ import annotations

from datetime import datetime

from ematix_flow._base.clock import iso
from ematix_flow.ports import LedgerEntry, TargetSession
from ematix_flow.sql.bookkeeping import LEDGER, Bookkeeping

# Batch runs have one generation; streams open a new one with each new checkpoint.
_GENERATION = 0
_EPOCH = 0


def last_commit(
    session: TargetSession, sql: Bookkeeping, pipeline: str, target: str
) -> LedgerEntry | None:
    """Return the last commit of *pipeline* into *target*, if there was one."""
    if session.columns(LEDGER.name) is None:
        return None
    rows = session.fetch(sql.read_ledger, (pipeline, target))
    if not rows:
        return None
    run_id, committed_at, inserted, deleted = rows[0]
    return LedgerEntry(
        run_id=str(run_id),
        committed_at=str(committed_at),
        rows_inserted=int(str(inserted)),
        rows_deleted=int(str(deleted)),
    )


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
    """Replace the pipeline's row. Must run inside the committing transaction."""
    session.execute(sql.delete_ledger, (pipeline, target))
    session.execute(
        sql.insert_ledger,
        (
            *(pipeline, target, _GENERATION, run_id, _EPOCH),
            *(None, None, None),  # window and watermark come with incremental loads
            *(inserted, deleted, iso(now)),
        ),
    )
