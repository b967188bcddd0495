"""What PostgreSQL's catalog tells about tables. Reads it, never a row of the user's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ematix_flow.backends.account import grant_hint
from ematix_flow.backends.impl.postgres.database import fetch
from ematix_flow.backends.impl.postgres.server import Server
from ematix_flow.backends.tables import FoundTable, missing_table
from ematix_flow.errors import SourceError
from ematix_flow.ports import ActualColumn, Child
from ematix_flow.spec.table import TableName

if TYPE_CHECKING:
    from ematix_flow.backends.impl.postgres.adbc import Connection

# Tables, partitioned ones, views, materialised views, foreign tables.
_RELATIONS = "c.relkind IN ('r', 'p', 'v', 'm', 'f')"

# A collation is told where texts that differ may be equal to it; to the others none are.
_COLUMNS = f"""
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       coalesce(a.attnum = ANY(i.indkey), false), l.collname
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary
LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation AND NOT l.collisdeterministic
WHERE {_RELATIONS} AND c.relname = ? AND n.nspname = coalesce(CAST(? AS text), current_schema())
  AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""  # noqa: S608  # our own text

# A name without quotes is folded to lower case; whether it had quotes is not known here.
_FIND = f"""
SELECT n.nspname, c.relname, has_any_column_privilege(c.oid, 'SELECT'),
       CASE WHEN c.relkind = 'p' THEN (SELECT CAST(sum(pg_relation_size(p.relid)) AS bigint)
                                       FROM pg_partition_tree(c.oid) p WHERE p.isleaf)
            WHEN c.relkind IN ('r', 'm') THEN pg_relation_size(c.oid) END
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace,
     LATERAL (SELECT CAST(? AS text) AS wanted) asked,
     LATERAL (SELECT CAST(c.relname AS text) AS bare, n.nspname || '.' || c.relname AS full_name,
                     current_database() || '.' || n.nspname || '.' || c.relname AS whole) names
WHERE {_RELATIONS}
  AND ((bare IN (wanted, lower(wanted)) AND pg_table_is_visible(c.oid))
       OR full_name IN (wanted, lower(wanted)) OR whole IN (wanted, lower(wanted)))
ORDER BY wanted IN (bare, full_name, whole) DESC, wanted = bare DESC
LIMIT 1
"""  # noqa: S608  # our own text

_KNOWN = f"""
SELECT CASE WHEN pg_table_is_visible(c.oid) THEN '' ELSE n.nspname || '.' END || c.relname
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE {_RELATIONS} AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg|_%' ESCAPE '|'
ORDER BY 1
"""  # noqa: S608  # our own text

# Not itself: its rows are all gone then. Partitions of a table are told by its own name.
_CHILDREN = """
SELECT DISTINCT CASE WHEN pg_table_is_visible(t.oid) THEN '' ELSE m.nspname || '.' END || t.relname,
       CASE f.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' ELSE 'SET DEFAULT' END
FROM pg_catalog.pg_constraint f
JOIN pg_catalog.pg_class c ON c.oid = f.confrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class t ON t.oid = f.conrelid
JOIN pg_catalog.pg_namespace m ON m.oid = t.relnamespace
WHERE f.contype = 'f' AND f.confdeltype IN ('c', 'n', 'd') AND t.oid <> c.oid
  AND NOT t.relispartition AND c.relname = ?
  AND n.nspname = coalesce(CAST(? AS text), current_schema())
ORDER BY 1, 2
"""

_LONG_NAMES = (
    (re.compile(r"^character varying\b"), "varchar"),
    (re.compile(r"^character\b"), "char"),
    (re.compile(r"^(time(?:stamp)?(?:\(\d\))?) without time zone\b"), r"\1"),
)


def columns_of(database: Connection, table: TableName) -> tuple[ActualColumn, ...] | None:
    """Return the table's columns, or None where it does not exist.

    Without a schema it is looked for where CREATE TABLE would put it, not along the search path:
    what is found is then what is written to.
    """
    rows = fetch(database, _COLUMNS, (table.name, table.schema))
    found = tuple(
        ActualColumn(
            name=name,
            type=short_name(kind),
            nullable=not not_null,
            primary_key=key,
            collation=collation,
        )
        for name, kind, not_null, key, collation in rows
    )
    return found or None


def children_of(database: Connection, table: TableName) -> tuple[Child, ...]:
    """Return the other tables that lose something when rows of *table* are deleted."""
    rows = fetch(database, _CHILDREN, (table.name, table.schema))
    return tuple(Child(table=name, on_delete=rule) for name, rule in rows)


def has_schema(database: Connection, name: str) -> bool:
    """Tell whether the database has that schema."""
    return bool(fetch(database, "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ?", (name,)))


def find_table(database: Connection, relation: str, server: Server) -> FoundTable:
    """Return the table that a query means by *relation*."""
    rows = fetch(database, _FIND, (relation,))
    if not rows:
        known = [name for (name,) in fetch(database, _KNOWN)]
        raise missing_table(relation, str(server), known)
    [(schema, name, readable, size)] = rows
    if not readable:
        raise SourceError(
            f"{server.account} is not allowed to read {schema}.{name}",
            hint=grant_hint(server.user, f"SELECT ON {schema}.{name}"),
        )
    return FoundTable(name=TableName(name=name, schema=schema), size_bytes=size)


def short_name(kind: str) -> str:
    """Return a type the way people, and our DDL, spell it.

    >>> short_name("character varying(3)[]"), short_name("timestamp without time zone")
    ('varchar(3)[]', 'timestamp')
    """
    for long_name, short in _LONG_NAMES:
        kind = long_name.sub(short, kind)
    return kind
