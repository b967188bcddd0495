"""An expression of a Spark plan into what its value comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.lineage.trace import Trace, computed, unknown

Traces = dict[int, Trace]
"""By the id that Spark gives each column it makes."""

_SUBQUERIES = frozenset({"ScalarSubquery", "ListQuery", "LateralSubquery"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a node of a plan gives: the traces of its columns, and whose rows they are."""

    traces: Traces
    tables: tuple[TableName, ...] = ()

    def of(self, attribute: Any) -> Trace:
        """Return the trace of one column."""
        found = self.traces.get(attribute.exprId().id())
        return found or unknown(f"where {attribute.name()} comes from is not in the plan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What an expression can refer to, and how to follow the subqueries in it.

    :param subquery: from a plan and the columns around it, the traces of its columns.
    :param existence: the same for EXISTS, whose columns do not matter.
    """

    rows: Rows
    outer: Traces
    subquery: Callable[[Any, Traces], list[Trace]]
    existence: Callable[[Any, Traces], Trace]


def items(sequence: Any) -> Iterator[Any]:
    """Walk a Scala sequence."""
    iterator = sequence.iterator()
    while iterator.hasNext():
        yield iterator.next()


def kind_of(node: Any) -> str:
    """Return the name of a node's class."""
    return str(node.getClass().getSimpleName())


def value(expression: Any, around: Around) -> Trace:
    """Return the trace of an expression; all columns in it count."""
    kind = kind_of(expression)
    while kind == "Alias":
        expression = expression.child()
        kind = kind_of(expression)
    visible = {**around.outer, **around.rows.traces}
    if kind in ("AttributeReference", "OuterReference"):
        return _column(expression, visible)
    parts: list[Trace] = []
    aggregate = False
    pending = [(expression, kind, False)]
    while pending:
        node, kind, windowed = pending.pop()
        if kind in ("AttributeReference", "OuterReference"):
            parts.append(_column(node, visible))
        elif kind in _SUBQUERIES:
            parts += around.subquery(node.plan(), visible)
        elif kind == "Exists":
            parts.append(around.existence(node.plan(), visible))
        else:
            counts = kind == "WindowExpression" or (kind == "AggregateExpression" and not windowed)
            aggregate = aggregate or (counts and kind == "AggregateExpression")
            if counts and node.references().isEmpty():
                parts.append(Trace("expression", rows_of=around.rows.tables))
            below = [
                (child, kind_of(child), kind == "WindowExpression")
                for child in items(node.children())
            ]
            pending.extend(reversed(below))
    return computed(parts, aggregate=aggregate)


def _column(attribute: Any, visible: Traces) -> Trace:
    found = visible.get(attribute.exprId().id())
    return found or unknown(f"where {attribute.name()} comes from is not in the plan")
