"""A declared table brought to what the actual one holds, where misfits are to be discarded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ematix_flow.errors import DriftError
from ematix_flow.plan.diff import Change, ChangeKind, compare
from ematix_flow.ports import ActualColumn
from ematix_flow.resolve.keys import merge_keys
from ematix_flow.spec.drifted import Drifted
from ematix_flow.spec.modes import OnDrift
from ematix_flow.spec.pipeline import TargetSpec
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import DATA_TYPES, DataType
from ematix_flow.sqltext.type_texts import read_type

_TYPE_CHANGES = (ChangeKind.WIDEN, ChangeKind.NARROW, ChangeKind.RETYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The table as rows can be written to it, and what is let go for that."""

    table: Table
    drifted: tuple[Drifted, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know, one line each."""
        return tuple(f"{self.table.name}.{each}" for each in self.drifted)


def fitted(
    target: TargetSpec, table: Table, actual: Sequence[ActualColumn] | None, dialect: str
) -> Fitted:
    """Return what can be written; unchanged unless the target's on_drift discards.

    Nothing of a key is ever discarded: another row would be changed.
    """
    policy = target.write.on_drift
    if actual is None or policy not in (OnDrift.DISCARD_VALUE, OnDrift.DISCARD_ROW):
        return Fitted(table=table)
    chosen = merge_keys(target)
    keys = {*table.primary_key, *(chosen.columns if chosen else ())}
    there = {each.name.casefold(): each for each in actual}
    found: dict[str, Drifted] = {}
    for change in compare(table, actual, dialect).changes:
        if change.fits or change.kind not in (ChangeKind.ADD, ChangeKind.NULLABLE, *_TYPE_CHANGES):
            continue
        column = next(each for each in table.columns if each.name == change.column)
        if column.name in keys:
            raise _stuck(table, change, "nothing of a key can be discarded")
        held = _Held(table=table, column=column, change=change, dialect=dialect)
        found[column.name] = held.drifted(there.get(column.name.casefold()), policy)
    return Fitted(table=_without(table, found), drifted=tuple(found.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A column beside how it differs."""

    table: Table
    column: Column
    change: Change
    dialect: str

    def drifted(self, there: ActualColumn | None, policy: OnDrift) -> Drifted:
        discards_row = policy is OnDrift.DISCARD_ROW
        if there is None:
            return Drifted(column=self.column, held=None, discards_row=discards_row)
        if not there.nullable and not discards_row:
            why = "a value cannot be discarded where the table takes no NULL"
            raise _stuck(self.table, self.change, why)
        held: DataType | None = self.column.type
        if self.change.kind in _TYPE_CHANGES:
            held = read_type(there.type, self.dialect)
        if held is None or not isinstance(held, DATA_TYPES):
            raise _stuck(self.table, self.change, f"what fits {there.type} is not known")
        return Drifted(
            column=self.column, held=held, takes_null=there.nullable, discards_row=discards_row
        )


def _without(table: Table, found: dict[str, Drifted]) -> Table:
    columns = []
    for column in table.columns:
        drifted = found.get(column.name)
        if drifted is None:
            columns.append(column)
        elif drifted.held is not None:
            nullable = drifted.takes_null
            columns.append(replace(column, type=drifted.held, nullable=nullable, markers=()))
    return replace(table, columns=tuple(columns))


def _stuck(table: Table, change: Change, why: str) -> DriftError:
    return DriftError(
        f"table {table.name} differs from its declaration: {change.text}",
        where=table.location,
        hint=f"{why}; change the declaration, or alter the table",
    )
