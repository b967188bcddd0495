"""Tables, created idempotently and outside of the commit."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.identifiers import table as table_node
from ematix_flow.sqltext.type_names import type_name


def create_schema(name: str, dialect: str) -> str:
    """Return CREATE SCHEMA IF NOT EXISTS."""
    target = exp.Table(db=exp.to_identifier(name, quoted=True))
    return exp.Create(this=target, kind="SCHEMA", exists=True).sql(dialect=dialect)


def create_table(table: Table, name: TableName, dialect: str) -> str:
    """Return CREATE TABLE IF NOT EXISTS for a declared table."""
    definitions = [_definition(column, dialect) for column in table.columns]
    keys = [quoted(column.name, dialect) for column in table.columns if column.primary_key]
    if keys:
        definitions.append(f"PRIMARY KEY ({', '.join(keys)})")
    target = table_node(name).sql(dialect=dialect)
    return f"CREATE TABLE IF NOT EXISTS {target} ({', '.join(definitions)})"


def _definition(column: Column, dialect: str) -> str:
    # The type's name is ours (type_names), not the user's; sqlglot would translate it away.
    null = "" if column.nullable else " NOT NULL"
    return f"{quoted(column.name, dialect)} {type_name(column.type, dialect)}{null}"
