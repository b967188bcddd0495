"""Changing a table that is there. None of it runs inside of a commit.

Each function returns None where the dialect has no statement for the change.
"""

from __future__ import annotations

from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.identifiers import table as table_node


def add_column(table: TableName, column: str, type_name: str, dialect: str) -> str:
    """Return ADD COLUMN: always nullable, because the rows that are there have no value for it."""
    return f"{_alter(table, dialect)} ADD COLUMN {_name(column, dialect)} {type_name}"


def drop_column(table: TableName, column: str, dialect: str) -> str:
    """Return DROP COLUMN."""
    return f"{_alter(table, dialect)} DROP COLUMN {_name(column, dialect)}"


def rename_column(table: TableName, old: str, new: str, dialect: str) -> str:
    """Return RENAME COLUMN."""
    names = f"{_name(old, dialect)} TO {_name(new, dialect)}"
    return f"{_alter(table, dialect)} RENAME COLUMN {names}"


def change_type(
    table: TableName,
    column: str,
    type_name: str,
    dialect: str,
    *,
    nullable: bool,
    converted: bool = False,
) -> str | None:
    """Return the change of a column's type.

    :param nullable: What the column is now: MySQL forgets it unless told again.
    :param converted: Whether values become those of another type, which PostgreSQL wants spelt out.
    """
    alter, name = _alter(table, dialect), _name(column, dialect)
    match dialect:
        case "sqlite":
            return None
        case "mysql" | "mariadb":
            return f"{alter} MODIFY COLUMN {name} {type_name}{'' if nullable else ' NOT NULL'}"
        case "postgres":
            using = f" USING CAST({name} AS {type_name})" if converted else ""
            return f"{alter} ALTER COLUMN {name} TYPE {type_name}{using}"
        case "duckdb":
            return f"{alter} ALTER COLUMN {name} SET DATA TYPE {type_name}"
        case _:
            return f"{alter} ALTER COLUMN {name} TYPE {type_name}"


def set_nullable(
    table: TableName, column: str, type_name: str, dialect: str, *, nullable: bool
) -> str | None:
    """Return DROP NOT NULL or SET NOT NULL."""
    alter, name = _alter(table, dialect), _name(column, dialect)
    match dialect:
        case "sqlite":
            return None
        case "mysql" | "mariadb":
            return f"{alter} MODIFY COLUMN {name} {type_name}{'' if nullable else ' NOT NULL'}"
        case _:
            return f"{alter} ALTER COLUMN {name} {'DROP' if nullable else 'SET'} NOT NULL"


def _alter(table: TableName, dialect: str) -> str:
    return f"ALTER TABLE {table_node(table).sql(dialect=grammar_of(dialect))}"


def _name(column: str, dialect: str) -> str:
    return quoted(column, grammar_of(dialect))
