"""Keys whose texts a table that was there compares otherwise than we do."""

from __future__ import annotations

from collections.abc import Iterable

from ematix_flow.errors import DriftError
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.types import String, Text
from ematix_flow.sqltext.type_table import COLLATIONS


def other_collations(
    layout: Layout, actual: Iterable[ActualColumn], dialect: str
) -> tuple[str, ...]:
    """Return a warning for each key that the table compares in a way of its own.

    Rows are matched exactly in any case. But the table's own index then serves nothing, and its
    primary key may refuse `A` where it has `a`. With a binary collation that is not ours, though,
    MySQL refuses to compare at all: that is DriftError.
    """
    wanted = COLLATIONS.get(dialect)
    if wanted is None:
        return ()
    keys = {
        column.name.casefold()
        for column in layout.table.columns
        if column.name in layout.keys and isinstance(column.type, Text | String)
    }
    warnings = []
    for column in actual:
        if column.name.casefold() not in keys or column.collation in (None, wanted):
            continue
        has = f"key {column.name} has the collation {column.collation}"
        if _is_binary(column.collation):
            raise DriftError(
                f"{layout.table.name}: {has}, for which `a` and `a ` are one key",
                where=layout.table.location,
                hint=f"ALTER TABLE {layout.table.name} MODIFY {column.name} {column.type} "
                f"CHARACTER SET utf8mb4 COLLATE {wanted}{'' if column.nullable else ' NOT NULL'}",
            )
        warnings.append(
            f"{layout.table.name}: {has}, for which texts that differ may be equal "
            f"(ours is {wanted})"
        )
    return tuple(warnings)


def _is_binary(collation: str | None) -> bool:
    return collation is not None and collation.startswith("utf8mb4") and collation.endswith("_bin")
