"""How a table differs from its declaration, and what would make it the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ematix_flow.plan.change import Change, ChangeKind, SchemaDiff
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.table import Column, Table
from ematix_flow.sqltext.alteration import Alterations
from ematix_flow.sqltext.identifiers import folded, physical_name
from ematix_flow.sqltext.type_change import TypeChange, type_change
from ematix_flow.sqltext.type_names import held_columns
from ematix_flow.sqltext.type_texts import as_reported

__all__ = ["Change", "ChangeKind", "SchemaDiff", "compare"]

_SIMILAR = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """A declared column beside what the dialect makes of it."""

    column: Column
    type_name: str
    position: int

    @property
    def shown(self) -> str:
        return as_reported(self.type_name)


def compare(table: Table, actual: Sequence[ActualColumn], dialect: str) -> SchemaDiff:
    """Return what sets *table* apart from its columns in the database."""
    return _Comparison(table, tuple(actual), dialect).diff()


@dataclass(frozen=True, slots=True)
class _Comparison:
    table: Table
    actual: tuple[ActualColumn, ...]
    dialect: str

    @property
    def alterations(self) -> Alterations:
        return Alterations(physical_name(self.table.name, self.dialect), self.dialect)

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
        return SchemaDiff(
            table=self.alterations.table, dialect=self.dialect, changes=tuple(changes)
        )

    def _folded(self, name: str) -> str:
        return folded(name, self.dialect)

    def _added(self, each: _Declared) -> Change:
        name = each.column.name
        alteration = self.alterations.added(name, each.type_name, nullable=each.column.nullable)
        return Change(
            kind=ChangeKind.ADD,
            column=name,
            declared=each.shown,
            text=f"{name} is declared but missing from the table",
            sql=alteration.sql,
            fits=False,
            note=alteration.note,
        )

    def _dropped(self, there: ActualColumn) -> Change:
        null = "" if there.nullable else " NOT NULL,"
        alteration = self.alterations.dropped(there.name)
        return Change(
            kind=ChangeKind.DROP,
            column=there.name,
            actual=there.type,
            text=f"{there.name} is in the table,{null} but not declared",
            sql=alteration.sql,
            destructive=True,
            # Rows leave it NULL.
            fits=there.nullable,
            note=alteration.note,
        )

    def _column_changes(self, each: _Declared, there: ActualColumn) -> Iterator[Change]:
        change = type_change(there.type, each.type_name, self.dialect)
        if change is not TypeChange.NONE:
            yield self._retyped(each, there, change)
        # A key is never NULL in a database, whatever was declared.
        if not each.column.primary_key and there.nullable != each.column.nullable:
            yield self._nullability(each, change)

    def _nullability(self, each: _Declared, change: TypeChange) -> Change:
        name, nullable = each.column.name, each.column.nullable
        alteration = self.alterations.nullability(name, each.type_name, change, nullable=nullable)
        return Change(
            kind=ChangeKind.NULLABLE if nullable else ChangeKind.NOT_NULL,
            column=name,
            declared="NULL" if nullable else "NOT NULL",
            actual="NOT NULL" if nullable else "NULL",
            text=f"{name} is NOT NULL in the table, declared nullable"
            if nullable
            else f"{name} may be NULL in the table, declared NOT NULL",
            sql=alteration.sql,
            destructive=not nullable,
            # Every row is judged before it is written, so none of ours is NULL.
            fits=not nullable,
            note=alteration.note,
        )

    def _retyped(self, each: _Declared, there: ActualColumn, change: TypeChange) -> Change:
        name = each.column.name
        alteration = self.alterations.retyped(name, each.type_name, there, change)
        return Change(
            kind=ChangeKind(change.value),
            column=name,
            declared=each.shown,
            actual=there.type,
            text=f"{name} is {there.type}, declared as {each.shown}",
            sql=alteration.sql,
            destructive=change is not TypeChange.WIDEN,
            fits=change is TypeChange.NARROW or alteration.needless,
            note=alteration.note,
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
            text=f"{has if there else 'the table has no primary key'}, but {wanted} is declared",
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
                if type_change(old.type, new.type_name, self.dialect) is TypeChange.NONE
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
                sql=self.alterations.renamed(old.name, new.column.name),
                fits=True,
                note="a guess, never applied: rename it by hand if it is right",
            )


def _similarity(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold()).ratio()
