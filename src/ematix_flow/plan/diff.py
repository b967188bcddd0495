"""How a table differs from its declaration, and what would make it the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ematix_flow.plan.change import Change, ChangeKind, SchemaDiff
from ematix_flow.plan.type_change import TypeChange, type_change
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import Column, Table, TableName
from ematix_flow.spec.types import JSON, DataType, Numeric, String, Text
from ematix_flow.sqltext.alter import (
    add_column,
    change_type,
    drop_column,
    rename_column,
    set_nullable,
)
from ematix_flow.sqltext.dialect_names import is_mysql
from ematix_flow.sqltext.identifiers import physical_name
from ematix_flow.sqltext.type_names import held_columns
from ematix_flow.sqltext.type_texts import numeric_in_sqlite, read_type

__all__ = ["Change", "ChangeKind", "SchemaDiff", "compare"]

_TOKEN = re.compile(r'"(?:[^"]|"")*"|\w+|[^\w\s]')
_SIMILAR = 0.6
# What SQLite holds as text that may look like a number.
_KEPT_AS_TEXT = (Text, String, Numeric, JSON)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """A declared column beside what the dialect makes of it."""

    column: Column
    type_name: str
    position: int

    @property
    def shown(self) -> str:
        """The type without the clauses that no database reports with it."""
        return self.type_name.partition(" CHARACTER SET")[0]


def compare(table: Table, actual: Sequence[ActualColumn], dialect: str) -> SchemaDiff:
    """Return what sets *table* apart from its columns in the database."""
    return _Comparison(table, tuple(actual), dialect).diff()


@dataclass(frozen=True, slots=True)
class _Comparison:
    table: Table
    actual: tuple[ActualColumn, ...]
    dialect: str

    @property
    def name(self) -> TableName:
        return physical_name(self.table.name, self.dialect)

    def diff(self) -> SchemaDiff:
        held = held_columns(self.table, self.dialect)
        declared = {
            self._folded(column.name): _Declared(
                column=column, type_name=each.type_name, position=position
            )
            for position, (column, each) in enumerate(zip(self.table.columns, held, strict=True))
        }
        found = {self._folded(column.name): column for column in self.actual}
        missing = [each for name, each in declared.items() if name not in found]
        extra = [each for name, each in found.items() if name not in declared]
        changes: list[Change] = []
        for name, each in declared.items():
            if name in found:
                changes += self._column_changes(each, found[name])
            else:
                changes.append(self._added(each))
        changes += (self._dropped(each) for each in extra)
        changes += self._key_changes()
        changes += self._rename_guesses(missing, extra)
        return SchemaDiff(table=self.name, dialect=self.dialect, changes=tuple(changes))

    def _folded(self, name: str) -> str:
        # We quote every name, and only PostgreSQL then tells `Id` from `id`.
        return name if self.dialect == "postgres" else name.casefold()

    def _added(self, each: _Declared) -> Change:
        name = each.column.name
        note = None
        if not each.column.nullable:
            note = "added as nullable: the rows that are there have no value for it"
        return Change(
            kind=ChangeKind.ADD,
            column=name,
            declared=each.shown,
            text=f"{name} is declared but missing from the table",
            sql=add_column(self.name, name, each.type_name, self.dialect),
            fits=False,
            note=note,
        )

    def _dropped(self, there: ActualColumn) -> Change:
        null = "" if there.nullable else " NOT NULL,"
        return Change(
            kind=ChangeKind.DROP,
            column=there.name,
            actual=there.type,
            text=f"{there.name} is in the table,{null} but not declared",
            sql=drop_column(self.name, there.name, self.dialect),
            destructive=True,
            # Rows leave it NULL.
            fits=there.nullable,
            note=_DROP_NOTES.get(self.dialect),
        )

    def _column_changes(self, each: _Declared, there: ActualColumn) -> Iterator[Change]:
        change, wanted = self._type_change(each.type_name, there.type)
        if change is not TypeChange.NONE:
            yield self._retyped(each, there, change, wanted)
        # A key is never NULL in a database, whatever was declared.
        if not each.column.primary_key and there.nullable != each.column.nullable:
            yield self._nullability(each, change)

    def _nullability(self, each: _Declared, change: TypeChange) -> Change:
        name, nullable = each.column.name, each.column.nullable
        sql = set_nullable(self.name, name, each.type_name, self.dialect, nullable=nullable)
        note = _SQLITE_ALTERS if self.dialect == "sqlite" else None
        if is_mysql(self.dialect) and change in (TypeChange.NARROW, TypeChange.RETYPE):
            # Its statement names the type too, and would change that without being asked.
            sql, note = None, "change its type first"
        return Change(
            kind=ChangeKind.NULLABLE if nullable else ChangeKind.NOT_NULL,
            column=name,
            declared="NULL" if nullable else "NOT NULL",
            actual="NOT NULL" if nullable else "NULL",
            text=f"{name} is NOT NULL in the table, declared nullable"
            if nullable
            else f"{name} may be NULL in the table, declared NOT NULL",
            sql=sql,
            destructive=not nullable,
            # Every row is judged before it is written, so none of ours is NULL.
            fits=not nullable,
            note=note,
        )

    def _type_change(self, wanted: str, there: str) -> tuple[TypeChange, DataType | None]:
        new, old = read_type(wanted, self.dialect), read_type(there, self.dialect)
        if new is None or old is None:
            same = _tokens(wanted.partition(" CHARACTER SET")[0]) == _tokens(there)
            return (TypeChange.NONE if same else TypeChange.RETYPE), new
        # Such as STRING or DECIMAL(9,2): the names fit, what becomes of the values does not.
        if self.dialect == "sqlite" and isinstance(new, _KEPT_AS_TEXT) and numeric_in_sqlite(there):
            return TypeChange.RETYPE, new
        return type_change(old, new, self.dialect), new

    def _retyped(
        self, each: _Declared, there: ActualColumn, change: TypeChange, wanted: DataType | None
    ) -> Change:
        sql: str | None = None
        note: str | None
        fits = change is TypeChange.NARROW
        if self.dialect == "sqlite" and change is TypeChange.WIDEN:
            # Its columns have no width; but ours say how many digits a reader must expect.
            fits = not isinstance(wanted, Numeric)
            note = _SQLITE_WIDTHS if fits else _SQLITE_ALTERS
        elif self.dialect == "sqlite":
            note = _SQLITE_ALTERS
        elif self.dialect == "duckdb" and there.primary_key:
            note = "DuckDB cannot change the type of a key; make a new table"
        else:
            family = "mysql" if is_mysql(self.dialect) else self.dialect
            note = _TYPE_NOTES.get((family, change))
            sql = change_type(
                self.name,
                each.column.name,
                each.type_name,
                self.dialect,
                nullable=there.nullable,
                converted=change is TypeChange.RETYPE,
            )
        return Change(
            kind=ChangeKind(change.value),
            column=each.column.name,
            declared=each.shown,
            actual=there.type,
            text=f"{each.column.name} is {there.type}, declared as {each.shown}",
            sql=sql,
            destructive=change is not TypeChange.WIDEN,
            fits=fits,
            note=note,
        )

    def _key_changes(self) -> Iterator[Change]:
        keyed = [column for column in self.actual if column.primary_key is not None]
        if len(keyed) < len(self.actual):
            return
        there = [column.name for column in keyed if column.primary_key]
        declared = self.table.primary_key
        if {self._folded(name) for name in there} == {self._folded(name) for name in declared}:
            return
        has = f"the table's primary key is ({', '.join(there)})"
        wanted = f"({', '.join(declared)})" if declared else "none"
        yield Change(
            kind=ChangeKind.KEY,
            column=", ".join(declared or there),
            declared=wanted,
            actual=f"({', '.join(there)})" if there else "none",
            text=f"{has if there else 'the table has no primary key'}, declared is {wanted}",
            destructive=True,
            # Another key refuses rows, which is an error of the database and loses none.
            fits=True,
            note="flow does not change keys; alter the table by hand",
        )

    def _rename_guesses(
        self, missing: Sequence[_Declared], extra: Sequence[ActualColumn]
    ) -> Iterator[Change]:
        positions = {column.name: number for number, column in enumerate(self.actual)}
        for new in missing:
            olds = [
                old
                for old in extra
                if self._type_change(new.type_name, old.type)[0] is TypeChange.NONE
                and (
                    positions[old.name] == new.position
                    or _similarity(old.name, new.column.name) >= _SIMILAR
                )
            ]
            if not olds:
                continue
            old = max(olds, key=lambda each: _similarity(each.name, new.column.name))
            yield Change(
                kind=ChangeKind.RENAME,
                column=new.column.name,
                declared=new.column.name,
                actual=old.name,
                text=f"rename? {old.name} -> {new.column.name}",
                sql=rename_column(self.name, old.name, new.column.name, self.dialect),
                fits=True,
                note="a guess, never applied: rename it by hand if it is right",
            )


_SQLITE_ALTERS = "SQLite cannot change a column; make a new table"
_SQLITE_WIDTHS = "nothing to do: SQLite stores the wider values as they are"
_DROP_NOTES = {"delta": "needs the table property delta.columnMapping.mode = 'name'"}
_TYPE_NOTES = {
    ("delta", TypeChange.WIDEN): "needs the table property delta.enableTypeWidening = true",
    ("mysql", TypeChange.WIDEN): "a default or comment of the column is forgotten",
    ("postgres", TypeChange.NARROW): "values that do not fit stop it; decimals are rounded",
    ("duckdb", TypeChange.NARROW): "values that do not fit stop it; decimals are rounded",
    ("mysql", TypeChange.NARROW): "values that do not fit stop it; decimals are rounded",
}


def _similarity(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold()).ratio()


def _tokens(type_text: str) -> list[str]:
    """Return the words and signs of a type: databases space, case and quote as they like."""
    return [
        (token[1:-1].replace('""', '"') if token[0] == '"' else token).casefold()
        for token in _TOKEN.findall(type_text)
    ]
