"""Empty tables for what is not there yet, so that a dry run has something to count against."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from ematix_flow.plan.steps import Commit
from ematix_flow.ports import TargetSession
from ematix_flow.spec.table import Table
from ematix_flow.sqltext.ddl import can_be_temporary, create_table, drop_table
from ematix_flow.sqltext.program.companion import companion_of


@contextmanager
def standing_in(session: TargetSession, step: Commit, dialect: str) -> Iterator[None]:
    """Have the tables that *step* writes be there while the session is open."""
    with ExitStack() as stack:
        for table in _written(step):
            if session.columns(table.name) is None:
                stack.enter_context(_stand_in(session, table, dialect))
        yield


def _written(step: Commit) -> Iterator[Table]:
    """Give the tables that a commit writes, as they are called there."""
    yield replace(step.layout.table, name=step.target)
    companion = companion_of(step.layout, step.target)
    if companion is not None:
        yield companion


@contextmanager
def _stand_in(session: TargetSession, table: Table, dialect: str) -> Iterator[None]:
    if can_be_temporary(table.name, dialect):
        # It goes with the session, whatever happens.
        session.execute(create_table(table, table.name, dialect, temporary=True))
        yield
        return
    session.execute(create_table(table, table.name, dialect))
    try:
        yield
    finally:
        session.execute(drop_table(table.name, dialect))
