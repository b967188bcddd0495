"""Lineage of DataFrame code, from the plan that Spark made of it. No job is run.

Only a classic session shows its plans; Connect and Sail keep them to themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from ematix_flow.engine.analysis.leaves import FOREIGN_ROWS, LITERAL_ROWS, alias_name, leaf_name
from ematix_flow.engine.analysis.values import Around, Rows, Traces, items, kind_of, value
from ematix_flow.spec.lineage import ColumnLineage, ColumnRef, Influence, InfluenceRole, Lineage
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.lineage.trace import CONSTANT, Trace, computed, merged, unknown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def frame_lineage(frame: DataFrame, *, sources: Collection[str] = ()) -> Lineage | None:
    """Trace every column of *frame*; None where the engine does not show its plans.

    *sources* are the views that count as tables even if they are queries themselves. What else
    is read goes by the name it has: its view's, its table's, its path.
    """
    java = getattr(frame, "_jdf", None)
    if java is None:
        return None
    root = java.queryExecution().analyzed()
    plan = _Plan(frozenset(sources))
    rows = plan.rows(root, {})
    return Lineage(
        tables=tuple(plan.tables),
        columns=tuple(_column(each.name(), rows.of(each)) for each in items(root.output())),
        influences=tuple(Influence(column=ref, role=role) for ref, role in plan.influences),
        reasons=tuple(plan.gaps),
    )


def _column(name: str, trace: Trace) -> ColumnLineage:
    return ColumnLineage(
        column=name,
        kind=trace.kind,
        sources=trace.sources,
        rows_of=trace.rows_of,
        reasons=trace.gaps,
    )


class _Plan:
    """Walks a plan from its leaves up; what a node does to columns is told by its expressions."""

    def __init__(self, sources: frozenset[str]) -> None:
        self.sources = sources
        self.tables: dict[TableName, None] = {}
        self.influences: dict[tuple[ColumnRef, InfluenceRole], None] = {}
        self.gaps: dict[str, None] = {}
        # What a CTE or a recursive part refers to by a number: its columns by position.
        self.numbered: dict[int, tuple[list[Trace], tuple[TableName, ...]]] = {}

    def rows(self, node: Any, outer: Traces, alias: TableName | None = None) -> Rows:
        """Return the traces of a node's columns; *outer* are those around a subquery."""
        match kind_of(node):
            case "SubqueryAlias":
                return self._named(node, outer)
            case "View":
                return self.rows(node.child(), outer, alias)
            case "WithCTE":
                for definition in items(node.cteDefs()):
                    self._number(definition.id(), definition.child(), outer)
                return self.rows(node.plan(), outer)
            case "CTERelationRef" | "UnionLoopRef" as kind:
                number = node.cteId() if kind == "CTERelationRef" else node.loopId()
                return self._referred(node, number)
            case "UnionLoop":
                return self._loop(node, outer)
            case "Union" | "Intersect" | "Except" as kind:
                return self._set_operation(node, kind, outer)
            case kind:
                leaf = node.children().isEmpty()
                return self._leaf(node, kind, alias) if leaf else self._inner(node, kind, outer)

    def _named(self, node: Any, outer: Traces) -> Rows:
        name = alias_name(node)
        if str(name) in self.sources:
            return self._table(node, name)
        below = node.child()
        # `VALUES (1) AS v` is no table for having an alias; a view of such rows is one.
        return self.rows(below, outer, None if kind_of(below) in LITERAL_ROWS else name)

    def _leaf(self, node: Any, kind: str, alias: TableName | None) -> Rows:
        if alias is None and kind in LITERAL_ROWS:
            return _alike(node, CONSTANT)
        if alias is None and kind in FOREIGN_ROWS:
            gap = "rows that the program handed to Spark: where they come from is not in the plan"
            return _alike(node, unknown(gap))
        return self._table(node, alias or leaf_name(node, kind))

    def _table(self, node: Any, name: TableName) -> Rows:
        self.tables.setdefault(name)
        traces = {
            each.exprId().id(): Trace("column", (ColumnRef(table=name, column=each.name()),))
            for each in items(node.output())
        }
        return Rows(traces=traces, tables=(name,))

    def _inner(self, node: Any, kind: str, outer: Traces) -> Rows:
        below = [self.rows(child, outer) for child in items(node.children())]
        if kind == "LateralJoin":
            seen = {**outer, **below[0].traces}
            below.append(self.rows(node.right().plan(), seen))
        given = Rows(
            traces={key: trace for rows in below for key, trace in rows.traces.items()},
            tables=tuple(dict.fromkeys(table for rows in below for table in rows.tables)),
        )
        around = self._around(given, outer)
        self._decide(node, kind, around)
        made = dict(given.traces)
        match kind:
            case "Generate":
                generated = value(node.generator(), around)
                made.update(_alike_attributes(node.generatorOutput(), generated))
            case "Expand":
                made.update(_expanded(node, around))
            case _:
                for each in items(node.expressions()):
                    if kind_of(each) == "Alias":
                        made[each.exprId().id()] = value(each.child(), around)
        self._fill(node, made, given)
        return Rows(traces=made, tables=given.tables)

    def _fill(self, node: Any, made: Traces, given: Rows) -> None:
        """Trace what a function over whole rows puts out (`mapInPandas`) to all that goes in."""
        missing = [each for each in items(node.output()) if each.exprId().id() not in made]
        if missing:
            everything = [
                given.of(each) for child in items(node.children()) for each in items(child.output())
            ]
            whole = computed(everything, aggregate=False)
            made.update({each.exprId().id(): whole for each in missing})

    def _decide(self, node: Any, kind: str, around: Around) -> None:
        """Note what decides about rows."""
        match kind:
            case "Filter":
                self._influence([node.condition()], "filter", around)
            case "Join" | "LateralJoin" if node.condition().isDefined():
                self._influence([node.condition().get()], "join", around)
            case "Aggregate":
                self._influence(items(node.groupingExpressions()), "group_by", around)
            case "Deduplicate":
                self._influence(items(node.keys()), "group_by", around)
            case "Distinct":
                self._influence(items(node.output()), "group_by", around)
            case "GlobalLimit" | "Offset" | "Tail":
                below = node.child()
                while kind_of(below) in ("LocalLimit", "GlobalLimit", "Offset"):
                    below = below.child()
                if kind_of(below) == "Sort":
                    keys = (each.child() for each in items(below.order()))
                    self._influence(keys, "sort", around)

    def _influence(self, expressions: Iterable[Any], role: InfluenceRole, around: Around) -> None:
        self._note(merged(value(each, around) for each in expressions), role)

    def _note(self, found: Trace, role: InfluenceRole) -> None:
        self.influences.update(dict.fromkeys((source, role) for source in found.sources))
        self.gaps.update(dict.fromkeys(found.gaps))

    def _set_operation(self, node: Any, kind: str, outer: Traces) -> Rows:
        children = list(items(node.children()))
        below = [self.rows(child, outer) for child in children]
        columns = [
            [rows.of(each) for each in items(child.output())]
            for child, rows in zip(children, below, strict=True)
        ]
        if kind == "Except":
            self._note(merged(columns[1]), "filter")
            columns = columns[:1]
        traces = {
            each.exprId().id(): merged(column)
            for each, column in zip(items(node.output()), zip(*columns, strict=True), strict=True)
        }
        if kind != "Union":
            self._note(merged(traces.values()), "group_by")
        tables = tuple(dict.fromkeys(table for rows in below for table in rows.tables))
        return Rows(traces=traces, tables=tables)

    def _loop(self, node: Any, outer: Traces) -> Rows:
        """Return a recursive CTE's rows: read its recursion until it adds nothing."""
        self._number(node.id(), node.anchor(), outer)
        while True:
            before = self.numbered[node.id()]
            rows = self._set_operation(node, "Union", outer)
            self.numbered[node.id()] = ([rows.of(each) for each in items(node.output())], ())
            if self.numbered[node.id()][0] == before[0]:
                return rows

    def _number(self, number: int, plan: Any, outer: Traces) -> None:
        rows = self.rows(plan, outer)
        self.numbered[number] = ([rows.of(each) for each in items(plan.output())], rows.tables)

    def _referred(self, node: Any, number: int) -> Rows:
        columns, tables = self.numbered.get(number, ([], ()))
        pairs = zip(items(node.output()), columns, strict=False)
        return Rows(traces={each.exprId().id(): trace for each, trace in pairs}, tables=tables)

    def _around(self, rows: Rows, outer: Traces) -> Around:
        return Around(rows=rows, outer=outer, subquery=self._subquery, existence=self._existence)

    def _subquery(self, plan: Any, outer: Traces) -> list[Trace]:
        rows = self.rows(plan, outer)
        return [rows.of(each) for each in items(plan.output())]

    def _existence(self, plan: Any, outer: Traces) -> Trace:
        before, self.influences = self.influences, {}
        self.rows(plan, outer)
        inside, self.influences = self.influences, before
        self.influences.update(inside)
        return computed((Trace("column", (ref,)) for ref, _ in inside), aggregate=False)


def _alike(node: Any, trace: Trace) -> Rows:
    return Rows(traces=_alike_attributes(node.output(), trace))


def _alike_attributes(attributes: Any, trace: Trace) -> Traces:
    return {each.exprId().id(): trace for each in items(attributes)}


def _expanded(node: Any, around: Around) -> Traces:
    """Trace the columns of ROLLUP, CUBE and UNPIVOT: each is one of several expressions."""
    projections = [list(items(each)) for each in items(node.projections())]
    return {
        attribute.exprId().id(): merged(value(each, around) for each in column)
        for attribute, column in zip(
            items(node.output()), zip(*projections, strict=True), strict=True
        )
    }
