"""The one place where identifiers become SQL: always as quoted nodes, never as text."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.spec.table import TableName


def column(name: str, table: str | None = None) -> exp.Column:
    """Return a quoted column."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def table(name: TableName) -> exp.Table:
    """Return a quoted table, with its schema where it has one."""
    return exp.Table(
        this=exp.to_identifier(name.name, quoted=True),
        db=exp.to_identifier(name.schema, quoted=True) if name.schema else None,
    )


def physical_name(declared: TableName, dialect: str) -> TableName:
    """Return the name a declared table has in *dialect*: SQLite, without schemas, joins the two."""
    if dialect == "sqlite" and declared.schema:
        return TableName(name=f"{declared.schema}_{declared.name}")
    return declared
