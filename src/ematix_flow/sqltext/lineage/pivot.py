"""PIVOT and UNPIVOT: rows into columns and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ematix_flow.sqltext.lineage.relation import Output, Relation
from ematix_flow.sqltext.lineage.scope import Scope
from ematix_flow.sqltext.lineage.trace import CONSTANT, Trace, computed, merged, unknown
from ematix_flow.sqltext.lineage.values import trace

if TYPE_CHECKING:
    from ematix_flow.sqltext.lineage.reader import Reader


def pivoted(reader: Reader, around: Scope, source: Relation, pivot: exp.Pivot) -> Relation:
    """Return a relation turned by PIVOT or UNPIVOT: the columns it leaves, then the new ones."""
    scope = Scope(parent=around.parent, ctes=around.ctes)
    scope.add(source)
    made = _unpivot(reader, scope, pivot) if pivot.unpivot else _pivot(reader, scope, pivot)
    used = {reader.names.key(column.this) for column in pivot.find_all(exp.Column)}
    kept = _without(source.outputs, used)
    rows = replace(source, outputs=(*kept, *made), path=())
    return reader.aliased(rows, pivot.args.get("alias"))


def _without(outputs: Iterable[Output], used: set[str]) -> list[Output]:
    return [
        replace(each, without=each.without | used) if each.all_of else each
        for each in outputs
        if each.all_of or each.key not in used
    ]


def _pivot(reader: Reader, scope: Scope, pivot: exp.Pivot) -> list[Output]:
    """Return a column per listed value: each aggregates, where the pivoted column has it."""
    names = pivot.args.get("columns")
    over = [trace(reader, scope, field.this) for field in pivot.args.get("fields") or ()]
    aggregates = [
        computed((trace(reader, scope, each), *over), aggregate=True) for each in pivot.expressions
    ]
    reader.influence(merged(over), "group_by")
    if not names or not aggregates:
        return [Output(name="*", key="*", trace=unknown("PIVOT does not list its columns"))]
    # sqlglot lists them value by value, the aggregates of one value side by side.
    return [
        _output(reader, name, aggregates[position % len(aggregates)])
        for position, name in enumerate(names)
    ]


def _unpivot(reader: Reader, scope: Scope, pivot: exp.Pivot) -> list[Output]:
    """Return the column that says which column it was, and those that hold the values."""
    fields = pivot.args.get("fields") or ()
    listed = [each for field in fields for each in field.expressions]
    made = [_output(reader, field.this, CONSTANT) for field in fields]
    values = [name for each in pivot.expressions for name in _tuple(each)]
    for position, name in enumerate(values):
        parts = [_tuple(column) for column in listed]
        held = [part[position] for part in parts if position < len(part)]
        made.append(
            _output(reader, name, merged((trace(reader, scope, each) for each in held), "column"))
        )
    return made


def _tuple(node: exp.Expr) -> list[exp.Expr]:
    node = node.this if isinstance(node, exp.PivotAlias) else node
    return node.expressions if isinstance(node, exp.Tuple) else [node]


def _output(reader: Reader, name: exp.Expr, value: Trace) -> Output:
    identifier = name.this if isinstance(name, exp.Column) else name
    return Output(name=identifier.name, key=reader.names.key(identifier), trace=value)
