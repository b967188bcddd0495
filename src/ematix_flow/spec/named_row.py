"""A row, named in a message."""

from __future__ import annotations

from collections.abc import Iterable

from ematix_flow.spec.table import Table

_FIRST_COLUMNS = 4


def named_row(values: Iterable[tuple[str, object]]) -> str:
    """Name a row by some of its columns.

    >>> named_row([("id", 7), ("name", None)])
    'id=7, name=NULL'
    """
    return ", ".join(f"{name}={'NULL' if value is None else value}" for name, value in values)


def naming_columns(table: Table) -> tuple[str, ...]:
    """Return the columns that name a row: the key, or the first ones where there is none."""
    return table.key_columns or first_columns(table.column_names)


def first_columns(names: Iterable[str]) -> tuple[str, ...]:
    """Return the columns that name a row of which no key is known."""
    return tuple(names)[:_FIRST_COLUMNS]
