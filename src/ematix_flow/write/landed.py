"""What a target itself says has landed in it."""

from __future__ import annotations

from collections.abc import Iterable

from ematix_flow.ports import LedgerEntry, Target, TargetSession
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.bookkeeping import LEDGER, bookkeeping
from ematix_flow.write.ledger import entry_of_run, last_commit


def ledger_columns(session: TargetSession) -> tuple[str, ...] | None:
    """Return the columns of the ledger, of which an older one has fewer; None without one."""
    columns = session.columns(LEDGER.name)
    return None if columns is None else tuple(each.name for each in columns)


def last_landed(target: Target, pipeline: str, table: TableName) -> LedgerEntry | None:
    """Return the last commit of *pipeline* into *table*; None where there was none."""
    if not target.exists():
        return None
    with target.open_read_only() as session:
        known = ledger_columns(session)
        if known is None:
            return None
        return last_commit(session, bookkeeping(target.dialect), pipeline, str(table), known)


def landed(target: Target, pipeline: str, table: TableName, run_id: str) -> LedgerEntry | None:
    """Return what a run has committed; None where it has not."""
    return landed_of(target, pipeline, table, (run_id,)).get(run_id)


def landed_of(
    target: Target, pipeline: str, table: TableName, run_ids: Iterable[str]
) -> dict[str, LedgerEntry]:
    """Return what each of the runs has committed; those that have not are left out."""
    if not target.exists():
        return {}
    sql, name = bookkeeping(target.dialect), str(table)
    with target.open_read_only() as session:
        found = {each: entry_of_run(session, sql, pipeline, name, each) for each in run_ids}
    return {run_id: entry for run_id, entry in found.items() if entry is not None}
