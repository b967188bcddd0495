"""What DuckDB's catalog tells about tables. Reads it, never a row of the user's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.tables import missing_table
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.collation import told_collations
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Looked up by name: the catalogue's own tables are scanned as a whole, each time.
_COLUMNS = 'SELECT name, type, "notnull", pk FROM pragma_table_info(?)'

# DuckDB's names know no case, and a quoted one may have dots in it.
_FIND = """
SELECT schema_name, table_name
FROM (SELECT schema_name, table_name FROM duckdb_tables()
      UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal)
WHERE lower($1) IN (lower(table_name), lower(schema_name || '.' || table_name))
ORDER BY lower($1) = lower(table_name) DESC, schema_name != 'main' LIMIT 1
"""

_KNOWN = """
SELECT table_name FROM duckdb_tables()
UNION SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1
"""

# Nothing else tells a collation.
_COLLATED = """
SELECT lower(schema_name), lower(table_name), sql FROM duckdb_tables()
WHERE contains(lower(sql), 'collate')
"""

# By schema and table, then by column, all in lower case.
Collations = Mapping[tuple[str, str], Mapping[str, str]]


def collations_in(database: DuckDBPyConnection) -> Collations:
    """Return the columns that compare texts in a way of their own."""
    return {
        (schema, table): told_collations(created, "duckdb")
        for schema, table, created in database.execute(_COLLATED).fetchall()
    }


def columns_of(
    database: DuckDBPyConnection, table: TableName, collations: Collations
) -> tuple[ActualColumn, ...] | None:
    """Return the table's columns, or None where it does not exist."""
    import duckdb

    schema = table.schema or "main"
    name = f"{quoted(schema, 'duckdb')}.{quoted(table.name, 'duckdb')}"
    try:
        rows = database.execute(_COLUMNS, [name]).fetchall()
    except duckdb.CatalogException:
        return None
    told = collations.get((schema.lower(), table.name.lower()), {})
    return tuple(
        ActualColumn(
            name=column,
            type=kind,
            nullable=not filled,
            primary_key=bool(key),
            collation=told.get(column.casefold()),
        )
        for column, kind, filled, key in rows
    )


def columns_meant(
    database: DuckDBPyConnection, relation: str, path: Path
) -> tuple[ActualColumn, ...]:
    """Return the columns of what a query means by *relation*.

    What is no table may yet be something that DuckDB reads by its name, such as a file.
    """
    import duckdb

    named = database.execute(_FIND, (relation,)).fetchone() or (relation,)
    try:
        described = f"DESCRIBE {'.'.join(quoted(part, 'duckdb') for part in named)}"
        rows = database.execute(described).fetchall()
    except duckdb.CatalogException as error:
        known = [name for (name,) in database.execute(_KNOWN).fetchall()]
        raise missing_table(relation, path.name, known) from error
    return tuple(
        ActualColumn(name=name, type=kind, nullable=null == "YES", primary_key=key == "PRI")
        for name, kind, null, key, *_ in rows
    )
