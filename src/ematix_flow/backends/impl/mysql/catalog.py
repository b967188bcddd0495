"""What the catalog of MySQL tells about tables. Reads it, never a row of the user's."""

from __future__ import annotations

from ematix_flow.backends.impl.mysql.database import Connection, fetch
from ematix_flow.backends.impl.mysql.server import Server
from ematix_flow.backends.tables import FoundTable, missing_table
from ematix_flow.errors import TargetError
from ematix_flow.ports import ActualColumn, Child
from ematix_flow.spec.table import TableName

# Names compare as the server keeps them: some fold their case.
_COLUMNS = """
SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE = 'YES', COLUMN_KEY = 'PRI', COLLATION_NAME
FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?
ORDER BY ORDINAL_POSITION
"""

_ENGINE = """
SELECT ENGINE FROM information_schema.TABLES
WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ? AND TABLE_TYPE = 'BASE TABLE'
"""

# Not itself: its rows are all gone then.
_CHILDREN = """
SELECT DISTINCT IF(CONSTRAINT_SCHEMA = DATABASE(), TABLE_NAME,
                   CONCAT(CONSTRAINT_SCHEMA, '.', TABLE_NAME)), DELETE_RULE
FROM information_schema.REFERENTIAL_CONSTRAINTS
WHERE UNIQUE_CONSTRAINT_SCHEMA = COALESCE(?, DATABASE()) AND REFERENCED_TABLE_NAME = ?
  AND DELETE_RULE IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
  AND NOT (CONSTRAINT_SCHEMA = UNIQUE_CONSTRAINT_SCHEMA AND TABLE_NAME = REFERENCED_TABLE_NAME)
ORDER BY 1, 2
"""

_FIND = """
SELECT TABLE_SCHEMA, TABLE_NAME, DATA_LENGTH FROM information_schema.TABLES
WHERE (TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?) OR CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) = ?
ORDER BY TABLE_SCHEMA = DATABASE() DESC LIMIT 1
"""

_KNOWN = """
SELECT IF(TABLE_SCHEMA = DATABASE(), TABLE_NAME, CONCAT(TABLE_SCHEMA, '.', TABLE_NAME))
FROM information_schema.TABLES
WHERE TABLE_SCHEMA NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')
ORDER BY TABLE_SCHEMA = DATABASE() DESC, 1
"""


def columns_of(database: Connection, table: TableName) -> tuple[ActualColumn, ...] | None:
    """Return the table's columns, or None where it does not exist."""
    rows = fetch(database, _COLUMNS, (table.schema, table.name))
    found = tuple(
        ActualColumn(
            name=name,
            type=kind,
            nullable=bool(nullable),
            primary_key=bool(key),
            collation=collation,
        )
        for name, kind, nullable, key, collation in rows
    )
    return found or None


def require_transactions(database: Connection, table: TableName) -> None:
    """Refuse a table whose engine cannot take back what a failed load wrote."""
    for (engine,) in fetch(database, _ENGINE, (table.schema, table.name)):
        if engine.lower() != "innodb":
            raise TargetError(
                f"table {table} is kept by {engine}, which has no transactions: a load that fails "
                "would leave half of its rows",
                hint=f"ALTER TABLE {table} ENGINE=InnoDB",
            )


def children_of(database: Connection, table: TableName) -> tuple[Child, ...]:
    """Return the other tables that lose something when rows of *table* are deleted."""
    rows = fetch(database, _CHILDREN, (table.schema, table.name))
    return tuple(Child(table=name, on_delete=rule) for name, rule in rows)


def find_table(database: Connection, relation: str, server: Server) -> FoundTable:
    """Return the table that a query means by *relation*."""
    # One that this user must not read is not listed at all.
    rows = fetch(database, _FIND, (relation, relation))
    if not rows:
        known = [name for (name,) in fetch(database, _KNOWN)]
        raise missing_table(relation, str(server), known)
    [(schema, name, size)] = rows
    return FoundTable(name=TableName(name=name, schema=schema), size_bytes=size)
