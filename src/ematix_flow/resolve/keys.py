"""Which columns match rows: explicit keys, else the table's own, in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.spec.pipeline import TargetSpec
from ematix_flow.spec.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChoice:
    """The columns, who chose them, and what is worth knowing about the choice."""

    columns: tuple[str, ...]
    why: str
    warning: str | None = None


def merge_keys(target: TargetSpec) -> KeyChoice | None:
    """Return the columns that match rows; None in a mode that matches none.

    keys= comes first, then the table's merge keys, its natural_key(), its pk().
    """
    if not target.write.mode.needs_key:
        return None
    if not isinstance(target.table, Table):
        return KeyChoice(columns=target.write.keys, why="keys=")
    table = target.table
    for columns, why in (
        (target.write.keys, "keys="),
        (table.merge_keys, "the table's merge keys"),
        (table.natural_key, "natural_key()"),
        (table.primary_key, "pk()"),
    ):
        if columns:
            return KeyChoice(columns=columns, why=why, warning=_warning(columns, why, table))
    return KeyChoice(columns=(), why="none")  # refused when it was declared


def _warning(columns: tuple[str, ...], why: str, table: Table) -> str | None:
    if not table.primary_key or set(columns) == set(table.primary_key):
        return None
    return (
        f"rows match by {', '.join(columns)} ({why}), "
        f"not by the primary key {', '.join(table.primary_key)}"
    )
