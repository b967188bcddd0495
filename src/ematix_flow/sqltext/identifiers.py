"""The one place where identifiers become SQL: always quoted, as nodes wherever nodes will do."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from ematix_flow.errors import NotSupported
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.dialect_names import is_mysql

# The first letter beyond the plane that MySQL's names are written in.
_FOUR_BYTES = 0x10000


@lru_cache(maxsize=4096)  # a plan quotes the same few names again and again
def quoted(name: str, dialect: str) -> str:
    """Return a name as text, for the statements that sqlglot has no nodes for."""
    return exp.to_identifier(name, quoted=True).sql(dialect=dialect)


def view(name: str) -> str:
    """Return the name of one of Spark's views as text.

    Sail takes a quoted name literally, quotes and all; so only odd names are quoted.
    """
    return name if name.isidentifier() else quoted(name, "spark")


def column(name: str, table: str | None = None) -> exp.Column:
    """Return a quoted column."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def table(name: TableName) -> exp.Table:
    """Return a quoted table, with its schema where it has one."""
    return exp.Table(
        this=exp.to_identifier(name.name, quoted=True),
        db=exp.to_identifier(name.schema, quoted=True) if name.schema else None,
    )


def require_name(name: str, dialect: str) -> None:
    """Refuse a name that *dialect* cannot have, however it is quoted."""
    if is_mysql(dialect) and any(ord(letter) >= _FOUR_BYTES for letter in name):
        raise NotSupported(
            f"{name!r} cannot be a name in {dialect}: no letter of one may take four bytes",
            hint="rename it; column_map gives a column of the query another name",
        )


def folded(name: str, dialect: str) -> str:
    """Return *name* so that names which *dialect* takes for one are one."""
    # We quote every name, and only PostgreSQL then tells `Id` from `id`.
    return name if dialect == "postgres" else name.casefold()


def physical_name(declared: TableName, dialect: str) -> TableName:
    """Return the name a declared table has in *dialect*: SQLite, without schemas, joins the two."""
    if dialect == "sqlite" and declared.schema:
        # Two underscores: `a`.`b_c` and `a_b`.`c` must not become one table.
        return TableName(name=f"{declared.schema}__{declared.name}")
    return declared
