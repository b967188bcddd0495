"""Which columns wait for which: an expression sees other columns as their own markers left them."""

from __future__ import annotations

from graphlib import CycleError as _Cycle
from graphlib import TopologicalSorter

from ematix_flow.spec.normalize.expression import Expression
from ematix_flow.spec.normalize.value import NotNullOr
from ematix_flow.spec.table import Column
from ematix_flow.sqltext.markers.expression import read_expression, references


class CycleError(ValueError):
    """Columns whose markers wait for each other."""


def in_order(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns so that each comes after those it reads; CycleError where none can."""
    by_name = {each.name: each for each in columns}
    sorter = TopologicalSorter({each.name: sorted(reads(each, columns)) for each in columns})
    try:
        return tuple(by_name[name] for name in sorter.static_order())
    except _Cycle as error:
        circle = " -> ".join(error.args[1])
        raise CycleError(f"the markers of these columns wait for each other: {circle}") from error


def reads(column: Column, columns: tuple[Column, ...]) -> set[str]:
    """Return the other columns that the markers of *column* read."""
    names = [each.name for each in columns]
    found: set[str] = set()
    for marker in column.markers:
        match marker:
            case Expression():
                found |= references(read_expression(marker, column.name, names))
            case NotNullOr(others):
                found |= set(others)
            case _:
                pass
    return found
