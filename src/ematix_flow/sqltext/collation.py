"""How the texts of a column compare, where it was told to do so in a way of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import sqlglot
from sqlglot.errors import TokenError

from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.alter import change_type
from ematix_flow.sqltext.dialect_names import is_mysql
from ematix_flow.sqltext.type_table import COLLATIONS

_OURS: Mapping[str, str] = MappingProxyType(
    {**COLLATIONS, "postgres": '"default"', "sqlite": "BINARY", "duckdb": '"C"'}
)
# Names of what compares bytes.
_EXACT = ("binary", "c", "posix")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCollation:
    """The collation of a column that is not ours.

    Values are compared exactly in any case. Keys are matched as their columns compare, so that
    an index of the table serves. Only MySQL then prefers the exact one of two collations; the
    table's own index serves nothing there, and its primary key may refuse `A` where it has `a`.
    """

    name: str
    ours: str
    dialect: str

    @property
    def folds(self) -> str | None:
        """What would go wrong if keys were matched by it; None where they are matched exactly."""
        if not is_mysql(self.dialect):
            return "texts that differ may be one key"
        # The server refuses to compare it with ours: both are binary, but not one.
        incomparable = self.name.startswith("utf8mb4") and self.name.endswith("_bin")
        return "`a` and `a ` are one key" if incomparable else None

    def replaced(self, column: ActualColumn, table: TableName) -> str | None:
        """Return what gives the column our collation; None where no statement does."""
        if self.dialect == "duckdb" and column.primary_key:
            return None  # DuckDB changes no column of a key
        charset = " CHARACTER SET utf8mb4" if is_mysql(self.dialect) else ""
        type_name = f"{column.type}{charset} COLLATE {self.ours}"
        return change_type(table, column.name, type_name, self.dialect, nullable=column.nullable)


def foreign_collation(column: ActualColumn, dialect: str) -> ForeignCollation | None:
    """Return the collation of *column*, where it has one and it is not ours."""
    ours = _OURS.get(dialect)
    if ours is None or column.collation is None:
        return None
    if column.collation.casefold() in (ours, *_EXACT):
        return None
    return ForeignCollation(name=column.collation, ours=ours, dialect=dialect)


def told_collations(create_table: str, dialect: str) -> dict[str, str]:
    """Return the collations that a CREATE TABLE tells, by the names of their columns in lower case.

    By its words: what else it says of a column may be anything.
    """
    if "collate" not in create_table.casefold():
        return {}
    try:
        tokens = sqlglot.tokenize(create_table, dialect=dialect)
    except TokenError:
        return {}
    found: dict[str, str] = {}
    column, depth = "", 0
    for before, token in pairwise(tokens):
        match before.token_type.name:
            case "L_PAREN":
                depth += 1
            case "R_PAREN":
                depth -= 1
            case "COLLATE" if depth == 1:
                found[column.casefold()] = token.text
        # Deeper down there are types, checks and keys of several columns.
        if depth == 1 and before.token_type.name in ("L_PAREN", "COMMA"):
            column = token.text
    return found
