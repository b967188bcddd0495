"""How the texts of a column compare, where each column has its own way: MySQL and MariaDB."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.alter import change_type
from ematix_flow.sqltext.type_table import COLLATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCollation:
    """The collation of a column that is not ours.

    Values are matched exactly in any case. But the table's own index then serves nothing, and its
    primary key may refuse `A` where it has `a`.
    """

    name: str
    ours: str

    @property
    def is_incomparable(self) -> bool:
        """Whether the server refuses to compare it with ours: both are binary, but not one."""
        return self.name.startswith("utf8mb4") and self.name.endswith("_bin")

    def replaced(self, column: ActualColumn, table: TableName, dialect: str) -> str | None:
        """Return what gives the column our collation."""
        type_name = f"{column.type} CHARACTER SET utf8mb4 COLLATE {self.ours}"
        return change_type(table, column.name, type_name, dialect, nullable=column.nullable)


def foreign_collation(column: ActualColumn, dialect: str) -> ForeignCollation | None:
    """Return the collation of *column*, where it has one and it is not ours."""
    ours = COLLATIONS.get(dialect)
    if ours is None or column.collation is None or column.collation == ours:
        return None
    return ForeignCollation(name=column.collation, ours=ours)
