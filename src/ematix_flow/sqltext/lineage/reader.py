"""A query into the traces of its columns, in one walk over its tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from ematix_flow.spec.lineage import ColumnRef, InfluenceRole
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.lineage.names import Names, written
from ematix_flow.sqltext.lineage.relation import Output, Relation, named
from ematix_flow.sqltext.lineage.scope import Aliases, Scope
from ematix_flow.sqltext.lineage.set_operations import combined
from ematix_flow.sqltext.lineage.sources import add_joins, add_source
from ematix_flow.sqltext.lineage.stars import expanded
from ematix_flow.sqltext.lineage.trace import Trace, computed, merged, unknown
from ematix_flow.sqltext.lineage.values import trace

# `SELECT a + 1 AS b, b * 2`: a column of a table is found first, an alias to the left next.
_LATERAL_ALIASES = frozenset(
    {"clickhouse", "databricks", "duckdb", "redshift", "snowflake", "spark", "spark2", "teradata"}
)


class Reader:
    """Reads one query; collects on its way what decides about the query's rows."""

    def __init__(self, dialect: str, schema: Mapping[TableName, Sequence[str]]) -> None:
        self.dialect = dialect
        self.names = Names(dialect, schema)
        self.influences: dict[tuple[ColumnRef, InfluenceRole], None] = {}
        self.gaps: dict[str, None] = {}
        self._select_aliases: Aliases = "lateral" if dialect in _LATERAL_ALIASES else "last"

    def query(self, node: exp.Expr, ctes: dict[str, Relation], parent: Scope | None) -> Relation:
        """Return the columns of a query, and the tables whose rows it is made of."""
        ctes = self._with_ctes(node, ctes, parent)
        match node:
            case exp.Select():
                return self._select(node, ctes, parent)
            case exp.SetOperation():
                return self._set_operation(node, ctes, parent)
            case exp.Subquery() if isinstance(node.this, exp.Query) and not node.args.get("pivots"):
                rows = self.query(node.this, ctes, parent)
                self._sort(node, Scope(parent, ctes), rows.outputs)
                return rows
            case exp.Table() | exp.Subquery() | exp.UDTF():
                scope = Scope(parent, ctes)
                add_source(self, scope, node)
                return scope.rows(scope.outputs())
            case _:
                gap = f"{type(node).__name__.upper()} is not followed"
                return Relation(alias="", outputs=(Output(name="*", key="*", trace=unknown(gap)),))

    def influence(self, sources: Trace, role: InfluenceRole) -> None:
        """Note that a value decides about rows."""
        self.influences.update(dict.fromkeys((source, role) for source in sources.sources))
        self.gaps.update(dict.fromkeys(sources.gaps))

    def existence(self, node: exp.Exists, scope: Scope) -> Trace:
        """Return the trace of EXISTS: what decides about the subquery's rows, not its columns."""
        before, self.influences = self.influences, {}
        self.query(node.this, scope.ctes, scope)
        inside, self.influences = self.influences, before
        self.influences.update(inside)
        return computed((Trace("column", (source,)) for source, _ in inside), aggregate=False)

    def _with_ctes(
        self, node: exp.Expr, ctes: dict[str, Relation], parent: Scope | None
    ) -> dict[str, Relation]:
        clause = node.args.get("with_")
        if not isinstance(clause, exp.With):
            return ctes
        visible = dict(ctes)
        for cte in clause.expressions:
            key = self.names.key(cte.args["alias"].this)
            body = cte.this
            if clause.recursive and isinstance(body, exp.SetOperation):
                visible[key] = self._recursive(cte, key, visible, parent)
            else:
                visible[key] = self._cte(cte, body, visible, parent)
        return visible

    def _recursive(
        self, cte: exp.CTE, key: str, ctes: dict[str, Relation], parent: Scope | None
    ) -> Relation:
        """Return a recursive CTE: begin with its first part, read it until it adds nothing."""
        anchor = cte.this
        while isinstance(anchor, exp.SetOperation):
            anchor = anchor.this
        relation = self._cte(cte, anchor, ctes, parent)
        # Each reading adds a source to some column or is the last; the bound only guards that.
        for _ in range(1000):
            before = relation
            relation = self._cte(cte, cte.this, {**ctes, key: before}, parent)
            if relation == before:
                break
        return relation

    def _cte(
        self, cte: exp.CTE, body: exp.Expr, ctes: dict[str, Relation], parent: Scope | None
    ) -> Relation:
        return self.aliased(self.query(body, ctes, parent), cte.args["alias"])

    def aliased(self, rows: Relation, alias: exp.Expr | None) -> Relation:
        """Return *rows* under an alias, and its columns under those it lists."""
        if alias is None:
            return rows
        names = [(each.name, self.names.key(each)) for each in alias.args.get("columns") or ()]
        return replace(
            rows,
            alias=self.names.key(alias.this) if alias.this else "",
            outputs=named(rows.outputs, names),
            path=(),
        )

    def _select(
        self, node: exp.Select, ctes: dict[str, Relation], parent: Scope | None
    ) -> Relation:
        scope = Scope(parent, ctes)
        if source := node.args.get("from_"):
            add_source(self, scope, source.this)
        add_joins(self, scope, node)
        for window in node.args.get("windows") or ():
            scope.windows[self.names.key(window.this)] = window
        outputs: list[Output] = []
        for projection in node.expressions:
            columns = self._projected(scope, projection)
            outputs += columns
            if isinstance(projection, exp.Alias):
                scope.aliases[columns[0].key] = columns[0].trace
        self._filter(node, scope)
        self._group(node, scope, outputs)
        self._sort(node, scope, outputs)
        return scope.rows(outputs)

    def _projected(self, scope: Scope, node: exp.Expr) -> list[Output]:
        if node.is_star and not isinstance(node, exp.Alias):
            return expanded(self, scope, node)
        value = trace(self, scope, node, self._select_aliases)
        match node:
            case exp.Alias():
                names = [node.args["alias"]]
            case exp.Aliases():
                names = node.expressions
            case exp.Column():
                names = [node.this]
            case exp.Inline():
                gap = f"the fields of {written(node, self.dialect)} are not known"
                value, names = value.with_gaps((gap,)), [exp.to_identifier("*")]
            case exp.Columns():
                names = [exp.to_identifier("*")]
            case _:
                name = node.output_name or written(node, self.dialect)
                names = [exp.to_identifier(name, quoted=True)]
        return [Output(name=each.name, key=self.names.key(each), trace=value) for each in names]

    def _filter(self, node: exp.Select, scope: Scope) -> None:
        for clause in ("prewhere", "where", "having", "qualify", "connect"):
            if condition := node.args.get(clause):
                self.influence(trace(self, scope, condition, "before_unknown"), "filter")

    def _group(self, node: exp.Select, scope: Scope, outputs: Sequence[Output]) -> None:
        if group := node.args.get("group"):
            if group.args.get("all"):
                plain = (each.trace for each in outputs if each.trace.kind != "aggregate")
                self.influence(merged(plain), "group_by")
            self.influence(
                self._keys(scope, outputs, group.iter_expressions(), "before_unknown"), "group_by"
            )
        if distinct := node.args.get("distinct"):
            if on := distinct.args.get("on"):
                self.influence(trace(self, scope, on, "before_unknown"), "group_by")
            else:
                self.influence(merged(each.trace for each in outputs), "group_by")

    def _sort(self, node: exp.Expr, scope: Scope, outputs: Sequence[Output]) -> None:
        """Note what ORDER BY sorts by, where it decides which rows stay."""
        distinct = node.args.get("distinct")
        first_of = isinstance(distinct, exp.Distinct) and distinct.args.get("on")
        order = node.args.get("order")
        if order and (node.args.get("limit") or node.args.get("offset") or first_of):
            keys = [each.this for each in order.expressions]
            self.influence(self._keys(scope, outputs, keys, "first"), "sort")

    def _keys(
        self, scope: Scope, outputs: Sequence[Output], keys: Iterable[exp.Expr], aliases: Aliases
    ) -> Trace:
        """Return the trace of GROUP BY's or ORDER BY's keys, which may be positions."""
        by_name = {each.key: each.trace for each in outputs if not each.all_of}
        known = replace(scope, aliases={**by_name, **scope.aliases})
        traces = []
        for key in keys:
            if isinstance(key, exp.Literal) and key.is_int and int(key.name) <= len(outputs):
                traces.append(outputs[int(key.name) - 1].trace)
            else:
                traces.append(trace(self, known, key, aliases))
        return merged(traces)

    def _set_operation(
        self, node: exp.SetOperation, ctes: dict[str, Relation], parent: Scope | None
    ) -> Relation:
        operations: list[exp.SetOperation] = []
        left: exp.Expr = node
        while isinstance(left, exp.SetOperation) and (left is node or not left.args.get("with_")):
            operations.append(left)
            left = left.this
        rows = self.query(left, ctes, parent)
        for operation in reversed(operations):
            right = self.query(operation.expression, ctes, parent)
            rows = combined(self, operation, rows, right)
            self._sort(operation, Scope(parent, ctes), rows.outputs)
        return rows
