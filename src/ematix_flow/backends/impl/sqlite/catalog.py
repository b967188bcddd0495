"""What SQLite's schema tells about tables. Reads it, never a row of the user's."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ematix_flow.backends.tables import FoundTable, missing_table
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.collation import told_collations

_COLUMNS = 'SELECT name, type, "notnull", pk FROM pragma_table_info(?)'
# Nothing else tells a collation.
_CREATED = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE"
_KNOWN = (
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite|_%' ESCAPE '|' ORDER BY name"
)


def columns_of(database: sqlite3.Connection, table: TableName) -> tuple[ActualColumn, ...] | None:
    """Return the table's columns, or None where it does not exist."""
    created = database.execute(_CREATED, (table.name,)).fetchone()
    collations = told_collations(created[0], "sqlite") if created else {}
    found = tuple(
        ActualColumn(
            name=name,
            type=kind,
            nullable=not (not_null or key),
            primary_key=bool(key),
            collation=collations.get(name.casefold()),
        )
        for name, kind, not_null, key in database.execute(_COLUMNS, (table.name,))
    )
    return found or None


def find_table(database: sqlite3.Connection, relation: str, path: Path) -> FoundTable:
    """Return the table that a query means by *relation*."""
    # The name that is quoted in a query may itself have a dot in it.
    for name in (relation, relation.removeprefix("main.")):
        if database.execute(_COLUMNS, (name,)).fetchone() is not None:
            return FoundTable(name=TableName(name=name))
    raise missing_table(relation, path.name, [name for (name,) in database.execute(_KNOWN)])
