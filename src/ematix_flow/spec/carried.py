"""Columns that pass from `arrange` to `judge` beside the target's own, and no further."""

from __future__ import annotations

from dataclasses import replace

from ematix_flow.spec.layout import CURSOR, DELETED, Layout
from ematix_flow.spec.table import Table


def order_column(position: int) -> str:
    """Return the name under which an order column travels that the target does not have."""
    return f"_flow_order_{position}"


def foreign_order(layout: Layout) -> dict[str, str]:
    """Return the order columns that the target does not have, and the names they travel under."""
    given = {name.casefold() for name in layout.given}
    return {
        name: order_column(position)
        for position, name in enumerate(layout.order)
        if name.casefold() not in given
    }


def carried(layout: Layout) -> tuple[str, ...]:
    """Return every column that arrives beside those that are given."""
    flags = (DELETED,) if layout.has_deletion_flag else ()
    cursor = (CURSOR,) if layout.has_cursor else ()
    return (*flags, *foreign_order(layout).values(), *cursor)


def given_name(layout: Layout, name: str) -> str | None:
    """Return how the target spells *name*, whatever its case; None where it has no such column."""
    return next((each for each in layout.given if each.casefold() == name.casefold()), None)


def given_table(layout: Layout) -> Table:
    """Return the target with only those columns that the query gives."""
    columns = tuple(column for column in layout.table.columns if column.name in layout.given)
    return replace(layout.table, columns=columns, merge_keys=layout.keys)
