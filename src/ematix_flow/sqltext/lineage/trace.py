"""Where one value comes from, while a query is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from ematix_flow.spec.lineage import ColumnRef, Kind
from ematix_flow.spec.table import TableName

_T = TypeVar("_T")

# What is made of several values is as far from a plain column as the farthest of them.
_DISTANCE: dict[Kind, int] = {"constant": 0, "column": 1, "expression": 2, "aggregate": 3}


@dataclass(frozen=True, slots=True)
class Trace:
    """The sources of a value, and what could not be found out about them."""

    kind: Kind = "constant"
    sources: tuple[ColumnRef, ...] = ()
    rows_of: tuple[TableName, ...] = ()
    gaps: tuple[str, ...] = ()

    def with_gaps(self, gaps: Iterable[str]) -> Trace:
        """Return this trace, lacking also what *gaps* say."""
        return Trace(self.kind, self.sources, self.rows_of, _distinct((*self.gaps, *gaps)))


CONSTANT = Trace()


def unknown(reason: str) -> Trace:
    """Return the trace of a value whose sources cannot be told."""
    return Trace("expression", gaps=(reason,))


def merged(traces: Iterable[Trace], kind: Kind = "constant") -> Trace:
    """Return the trace of what is made of several values, at least as far as *kind*."""
    parts = list(traces)
    farthest = max((kind, *(each.kind for each in parts)), key=_DISTANCE.__getitem__)
    return Trace(
        farthest,
        _distinct(source for each in parts for source in each.sources),
        _distinct(table for each in parts for table in each.rows_of),
        _distinct(gap for each in parts for gap in each.gaps),
    )


def computed(traces: Iterable[Trace], *, aggregate: bool) -> Trace:
    """Return the trace of an expression over values; over constants it is one itself."""
    whole = merged(traces)
    if not (whole.sources or whole.rows_of or whole.gaps):
        return CONSTANT
    return merged((whole,), "aggregate" if aggregate else "expression")


def _distinct(items: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(items))
