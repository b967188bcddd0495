"""Keys whose texts a table that was there compares otherwise than we do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ematix_flow.errors import DriftError
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.types import String, Text
from ematix_flow.sqltext.collation import ForeignCollation, foreign_collation


def refuse_incomparable_keys(layout: Layout, actual: Iterable[ActualColumn], dialect: str) -> None:
    """Refuse a table whose keys its database would not match exactly."""
    if not layout.mode.needs_key and not layout.known_rows:
        return  # rows are matched nowhere
    for column, collation in _foreign(layout, actual, dialect):
        if collation.folds is not None:
            raise DriftError(
                f"{layout.table.name}: key {column.name} has the collation {collation.name}, "
                f"for which {collation.folds}",
                where=layout.table.location,
                hint=collation.replaced(column, layout.table.name)
                or f"create the table anew without COLLATE {collation.name}",
            )


def other_collations(
    layout: Layout, actual: Iterable[ActualColumn], dialect: str
) -> tuple[str, ...]:
    """Return a warning for each key that the table compares in a way of its own."""
    return tuple(
        f"{layout.table.name}: key {column.name} has the collation {collation.name}, for which "
        f"texts that differ may be equal (ours is {collation.ours})"
        for column, collation in _foreign(layout, actual, dialect)
    )


def _foreign(
    layout: Layout, actual: Iterable[ActualColumn], dialect: str
) -> Iterator[tuple[ActualColumn, ForeignCollation]]:
    keys = {
        column.name.casefold()
        for column in layout.table.columns
        if column.name in layout.keys and isinstance(column.type, Text | String)
    }
    for column in actual:
        if column.name.casefold() in keys and (found := foreign_collation(column, dialect)):
            yield column, found
