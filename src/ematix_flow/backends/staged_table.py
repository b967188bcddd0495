"""Staged rows in a table of the target: which of them count."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.errors import StagingLost
from ematix_flow.ports import StagedTable
from ematix_flow.spec.layout import TASK


def of_winners(staged: StagedTable, dialect: str) -> str:
    """Return the condition that a row was sent by an attempt that won.

    One that was repeated has left rows that do not count.
    """
    if staged.tasks is None:
        return "TRUE"
    listed = ", ".join(exp.Literal.string(task).sql(dialect=dialect) for task in staged.tasks)
    return f"{TASK} IN ({listed})" if listed else "FALSE"


def require_all(staged: StagedTable, found: int) -> None:
    """Refuse a table that holds other rows than its senders said; a crash may have emptied it."""
    if found != staged.rows:
        raise StagingLost(
            f"staging holds {found:,} rows, but {staged.rows:,} were sent to it; "
            "nothing was written",
            hint="run again; did the server restart, or somebody empty the table?",
        )
