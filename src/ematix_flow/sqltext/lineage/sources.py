"""What stands in a FROM, into relations of a scope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ematix_flow.sqltext.lineage.names import written
from ematix_flow.sqltext.lineage.pivot import pivoted
from ematix_flow.sqltext.lineage.relation import (
    Output,
    Relation,
    column_of,
    every_column_of,
)
from ematix_flow.sqltext.lineage.scope import Scope
from ematix_flow.sqltext.lineage.trace import Trace, computed, merged, unknown
from ematix_flow.sqltext.lineage.values import trace

if TYPE_CHECKING:
    from ematix_flow.sqltext.lineage.reader import Reader

# Their rows come from outside of the query, or from where only the function knows.
_FROM_OUTSIDE = (exp.Anonymous, exp.ReadCSV, exp.ReadParquet)
# Only their left side's columns are seen.
_FILTERING_JOINS = ("SEMI", "ANTI")


def add_source(reader: Reader, scope: Scope, node: exp.Expr) -> None:
    """Add one item of a FROM, with what is joined to it in parentheses."""
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
        _add_parenthesis(reader, scope, node)
    else:
        relation = _relation(reader, scope, node)
        for pivot in node.args.get("pivots") or ():
            relation = pivoted(reader, scope, relation, pivot)
        scope.add(relation)
    add_joins(reader, scope, node)


def add_joins(reader: Reader, scope: Scope, node: exp.Expr) -> None:
    """Add what is joined to a source, then the lateral views; conditions may name any of them."""
    joins = node.args.get("joins") or ()
    for join in joins:
        left = list(scope.relations.values())
        add_source(reader, scope, join.this)
        added = list(scope.relations)[len(left) :]
        _share(reader, scope, join, left, [scope.relations[key] for key in added])
        if join.kind in _FILTERING_JOINS:
            for key in added:
                scope.relations[key] = replace(scope.relations[key], shown=False)
    for lateral in node.args.get("laterals") or ():
        add_source(reader, scope, lateral)
    for join in joins:
        if condition := join.args.get("on"):
            reader.influence(trace(reader, scope, condition), "join")


def _add_parenthesis(reader: Reader, scope: Scope, node: exp.Subquery) -> None:
    """Add `(a JOIN b)`: its tables, or under an alias one relation of them."""
    if not node.args.get("alias"):
        add_source(reader, scope, node.this)
        return
    inner = Scope(scope.parent, scope.ctes)
    add_source(reader, inner, node.this)
    scope.add(reader.aliased(inner.rows(inner.outputs()), node.args["alias"]))


def _relation(reader: Reader, scope: Scope, node: exp.Expr) -> Relation:
    alias = node.args.get("alias")
    if isinstance(alias, exp.Identifier):
        # ClickHouse's ARRAY JOIN: not a relation's alias but that of its one column.
        alias = exp.TableAlias(columns=[alias.copy()])
    match node:
        case exp.Table() if isinstance(node.this, exp.Identifier):
            return reader.aliased(_table(reader, scope, node), alias)
        case exp.Table():
            return _function(reader, scope, node.this or node, alias)
        case exp.Subquery():
            # DuckDB lets a derived table look at those before it, as LATERAL does elsewhere.
            around = scope if reader.dialect == "duckdb" else scope.parent
            return reader.aliased(reader.query(node.this, scope.ctes, around), alias)
        case exp.Lateral() if isinstance(node.this, exp.Subquery):
            return reader.aliased(reader.query(node.this, scope.ctes, scope), alias)
        case exp.Lateral():
            return _function(reader, scope, node.this, alias)
        case exp.Unnest():
            return _unnest(reader, scope, node, alias)
        case exp.Values():
            return reader.aliased(_values(reader, scope, node), alias)
        case _:
            return _function(reader, scope, node, alias)


def _table(reader: Reader, scope: Scope, node: exp.Table) -> Relation:
    key = reader.names.key(node.this)
    if not node.args.get("db") and key in scope.ctes:
        return replace(scope.ctes[key], alias=key)
    name, columns, path = reader.names.table(node)
    outputs = (
        (every_column_of(name),)
        if columns is None
        else tuple(column_of(name, each, reader.names.column_key(each)) for each in columns)
    )
    return Relation(alias=key, outputs=outputs, tables=(name,), path=path)


def _function(reader: Reader, scope: Scope, node: exp.Expr, alias: exp.Expr | None) -> Relation:
    value = trace(reader, scope, node)
    if isinstance(node, _FROM_OUTSIDE):
        value = value.with_gaps((f"what {written(node, reader.dialect)} reads is not known",))
    return _table_function(reader, [value], node, alias)


def _unnest(reader: Reader, scope: Scope, node: exp.Unnest, alias: exp.Expr | None) -> Relation:
    values = [computed((trace(reader, scope, each),), aggregate=False) for each in node.expressions]
    relation = _table_function(reader, values, node, alias)
    offset = node.args.get("offset")
    if not isinstance(offset, exp.Identifier):
        return relation
    place = Output(name=offset.name, key=reader.names.key(offset), trace=merged(values))
    return replace(relation, outputs=(*relation.outputs, place))


def _table_function(
    reader: Reader, values: Sequence[Trace], node: exp.Expr, alias: exp.Expr | None
) -> Relation:
    """Return a function's rows: the columns that its alias names, else any that one asks for."""
    listed = alias.args.get("columns") if alias else None
    name = reader.names.key(alias.this) if alias and alias.this else ""
    whole = merged(values)
    if not listed:
        gap = f"the columns of {written(node, reader.dialect)} are not named"
        star = Output(name="*", key="*", trace=unknown(gap))
        return Relation(alias=name, outputs=(star,), any_column=whole)
    each_its_own = len(values) == len(listed)
    outputs = tuple(
        Output(
            name=column.name,
            key=reader.names.key(column),
            trace=values[position] if each_its_own else whole,
        )
        for position, column in enumerate(listed)
    )
    return Relation(alias=name, outputs=outputs)


def _values(reader: Reader, scope: Scope, node: exp.Values) -> Relation:
    rows = [
        each.expressions if isinstance(each, exp.Tuple) else [each] for each in node.expressions
    ]
    outputs = tuple(
        Output(
            name=f"col{position}",
            key=f"col{position}",
            trace=merged(trace(reader, scope, value) for value in values),
        )
        for position, values in enumerate(zip(*rows, strict=False), start=1)
    )
    return Relation(alias="", outputs=outputs)


def _share(
    reader: Reader,
    scope: Scope,
    join: exp.Join,
    left: Sequence[Relation],
    right: Sequence[Relation],
) -> None:
    """Note the columns that USING or NATURAL makes one of both sides."""
    keys = [(each.name, reader.names.key(each)) for each in join.args.get("using") or ()]
    if join.method == "NATURAL":
        if any(output.all_of for each in (*left, *right) for output in each.outputs):
            gap = "which columns a natural join pairs is not known: not all columns are"
            reader.influence(unknown(gap), "join")
        there = {output.key for each in right for output in each.outputs}
        keys = [
            (output.name, output.key)
            for each in left
            for output in each.outputs
            if output.key in there and not output.all_of
        ]
    for name, key in keys:
        before = scope.shared.get(key) or _among(left, name, key)
        both = merged((before, _among(right, name, key)))
        reader.influence(both, "join")
        # Only the rows of the left side remain of a semi join, and their values.
        scope.shared[key] = before if join.kind in _FILTERING_JOINS else both


def _among(relations: Sequence[Relation], name: str, key: str) -> Trace:
    scope = Scope(parent=None, ctes={})
    for relation in relations:
        scope.add(relation)
    return scope.resolve([(name, key)], "last")
