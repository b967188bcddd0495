"""Our own tables on a target, brought into being before the transaction that needs them."""

from __future__ import annotations

from ematix_flow.ports import TargetSession
from ematix_flow.spec.table import Table
from ematix_flow.sqltext.bookkeeping import FENCE, LEDGER, Bookkeeping


def ensure_own_tables(session: TargetSession, sql: Bookkeeping) -> None:
    """Create ledger and fence where they are missing; give older ones the columns they lack."""
    if _is_whole(session, LEDGER) and _is_whole(session, FENCE):
        return  # the usual case, in which even a user who may not create tables may run
    for statement in sql.create:
        session.execute(statement)
    for table in (LEDGER, FENCE):
        _complete(session, sql, table)


def _complete(session: TargetSession, sql: Bookkeeping, table: Table) -> None:
    for statement in sql.add_missing(table, _names(session, table)):
        try:
            session.execute(statement)
        except Exception:
            # Two runs at once: the other one may have added it.
            if statement in sql.add_missing(table, _names(session, table)):
                raise


def _is_whole(session: TargetSession, table: Table) -> bool:
    return {*table.column_names} <= _names(session, table)


def _names(session: TargetSession, table: Table) -> set[str]:
    return {each.name for each in session.columns(table.name) or ()}
