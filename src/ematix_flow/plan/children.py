"""Rows of other tables that refer to those of a target, and do not outlive them."""

from __future__ import annotations

from ematix_flow.ports import Child, StateReader
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.pipeline import TargetSpec
from ematix_flow.spec.table import TableName


def lost_with_rows(target: TargetSpec, name: TableName, state: StateReader) -> tuple[str, ...]:
    """Say what replacing all rows of the target does to other tables, one text each.

    The other modes delete a row where it is meant to be gone, and what refers to it with it.
    """
    if target.write.mode is not Mode.TRUNCATE:
        return ()
    return tuple(_lost(child) for child in state.children(target.connection, name))


def _lost(child: Child) -> str:
    told = f"(ON DELETE {child.on_delete})"
    if child.on_delete == "CASCADE":
        return f"replacing all rows deletes those of {child.table} that refer to them {told}"
    return f"replacing all rows makes those of {child.table} refer to them no more {told}"
