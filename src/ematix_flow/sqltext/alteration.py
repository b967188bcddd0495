"""What a database can do about a column that differs, and what to know before it does."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import TableName
from ematix_flow.spec.types import Numeric
from ematix_flow.sqltext.alter import (
    add_column,
    change_type,
    drop_column,
    rename_column,
    set_nullable,
)
from ematix_flow.sqltext.dialect_names import is_mysql
from ematix_flow.sqltext.type_change import TypeChange
from ematix_flow.sqltext.type_texts import read_type

_SQLITE_ALTERS = "SQLite cannot change a column; make a new table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alteration:
    """How a difference can be removed.

    :param sql: The statement for it; None where the database has none.
    :param needless: Whether values go in as they are wanted though the difference stays.
    """

    sql: str | None
    note: str | None = None
    needless: bool = False


@dataclass(frozen=True, slots=True)
class Alterations:
    """Those of the columns of one table."""

    table: TableName
    dialect: str

    def added(self, column: str, type_name: str, *, nullable: bool) -> Alteration:
        """Add a column that is missing."""
        later = "added as nullable: the rows that are there have no value for it"
        return Alteration(
            sql=add_column(self.table, column, type_name, self.dialect),
            note=None if nullable else later,
        )

    def dropped(self, column: str) -> Alteration:
        """Drop a column that nobody declares."""
        mapped = "needs the table property delta.columnMapping.mode = 'name'"
        return Alteration(
            sql=drop_column(self.table, column, self.dialect),
            note=mapped if self.dialect == "delta" else None,
        )

    def renamed(self, old: str, new: str) -> str:
        """Return what gives a column another name."""
        return rename_column(self.table, old, new, self.dialect)

    def retyped(
        self, column: str, type_name: str, there: ActualColumn, change: TypeChange
    ) -> Alteration:
        """Change the type that a column has *there*."""
        if self.dialect == "sqlite":
            return _retyped_in_sqlite(type_name, change)
        if self.dialect == "duckdb" and there.primary_key:
            note = "DuckDB cannot change the type of a key; make a new table"
            return Alteration(sql=None, note=note)
        sql = change_type(
            self.table,
            column,
            type_name,
            self.dialect,
            nullable=there.nullable,
            converted=change is TypeChange.RETYPE,
        )
        return Alteration(sql=sql, note=_known_of(change, self.dialect))

    def nullability(
        self, column: str, type_name: str, change: TypeChange, *, nullable: bool
    ) -> Alteration:
        """Let a column take NULL, or no longer.

        :param change: What becomes of its type beside.
        """
        if is_mysql(self.dialect) and change in (TypeChange.NARROW, TypeChange.RETYPE):
            # Its statement names the type too, and would change that without being asked.
            return Alteration(sql=None, note="change its type first")
        return Alteration(
            sql=set_nullable(self.table, column, type_name, self.dialect, nullable=nullable),
            note=_SQLITE_ALTERS if self.dialect == "sqlite" else None,
        )


def _retyped_in_sqlite(type_name: str, change: TypeChange) -> Alteration:
    # Its columns have no width; but ours say how many digits a reader must expect.
    is_decimal = isinstance(read_type(type_name, "sqlite"), Numeric)
    if change is TypeChange.WIDEN and not is_decimal:
        note = "nothing to do: SQLite stores the wider values as they are"
        return Alteration(sql=None, note=note, needless=True)
    return Alteration(sql=None, note=_SQLITE_ALTERS)


def _known_of(change: TypeChange, dialect: str) -> str | None:
    match change, dialect:
        case TypeChange.WIDEN, "delta":
            return "needs the table property delta.enableTypeWidening = true"
        case TypeChange.WIDEN, "mysql" | "mariadb":
            return "a default or comment of the column is forgotten"
        case TypeChange.NARROW, "postgres" | "duckdb" | "mysql" | "mariadb":
            return "values that do not fit stop it; decimals are rounded"
        case _:
            return None
