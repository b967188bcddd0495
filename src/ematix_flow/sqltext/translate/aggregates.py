"""Aggregates and window functions on their way to Spark."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.sqltext.translate.arithmetic import in_double
from ematix_flow.sqltext.translate.build import Rule, all_same, call, cast, number, refused, same
from ematix_flow.sqltext.translate.kinds import GIVEN, Kind, kind_of
from ematix_flow.sqltext.translate.refusal import Refusal


def _average_double(node: exp.Avg) -> exp.Expr:
    """Average as DuckDB does: the mean of decimals is a double."""
    if kind_of(node.this) not in (Kind.DOUBLE, Kind.INTEGER):
        inner = node.this
        if isinstance(inner, exp.Distinct):
            raise Refusal("the mean of distinct decimals is a decimal there", "CAST it to DOUBLE")
        node.set("this", cast(inner, "double"))
    node.meta[GIVEN] = Kind.DOUBLE
    return node


def average(*, exact: tuple[Kind, ...], double: str) -> Rule:
    """Average what is a double on both sides; elsewhere the digits of a mean differ."""

    def rule(node: exp.Avg) -> exp.Expr:
        inner = node.this
        value = inner.expressions[0] if isinstance(inner, exp.Distinct) else inner
        if kind_of(value) not in exact:
            raise Refusal(
                "the mean of whole numbers or decimals has other digits there",
                f"CAST the argument to {double}",
            )
        node.meta[GIVEN] = Kind.DOUBLE
        return node

    return rule


def _collected(node: exp.ArrayAgg) -> exp.Expr:
    """Collect the NULLs too, and NULL instead of an empty array: Spark does neither."""
    value = node.this
    if isinstance(value, exp.Order | exp.Distinct):
        raise Refusal(
            "an array is collected in no order there, and without NULLs",
            "collect unordered and sort the array, or use string_agg(... ORDER BY ...)",
        )
    if isinstance(node.parent, exp.Filter | exp.Window | exp.WithinGroup):
        raise Refusal(
            "an array is collected without NULLs there", "filter in a subquery, then collect"
        )
    item = exp.to_identifier("item")
    boxed = exp.Struct(expressions=[exp.PropertyEQ(this=item, expression=value.copy())])
    opened = exp.Lambda(this=exp.column("item", table="e"), expressions=[exp.to_identifier("e")])
    items = call("TRANSFORM", call("COLLECT_LIST", boxed), opened)
    none = exp.EQ(this=call("COUNT", number(1)), expression=number(0))
    return call("IF", none, exp.null(), items, kind=Kind.ARRAY)


def _best_with_value(node: exp.ArgMax | exp.ArgMin) -> exp.Expr:
    """Skip rows whose value is NULL, as DuckDB does."""
    if node.args.get("count") or isinstance(node.parent, exp.Filter | exp.Window):
        raise Refusal("rows whose value is NULL are skipped here", "add a filter in a subquery")
    present = exp.Is(this=exp.paren(node.this.copy(), copy=False), expression=exp.null())
    return exp.Filter(this=node.copy(), expression=exp.Where(this=exp.not_(present)))


def _within_group(node: exp.WithinGroup) -> exp.Expr:
    inner = node.this
    if isinstance(inner, exp.GroupConcat):
        return node
    if not isinstance(inner, exp.PercentileCont):
        raise Refusal(
            f"{inner.sql_name() if isinstance(inner, exp.Func) else 'it'} differs there", _MEDIAN
        )
    [ordered] = node.expression.expressions
    if ordered.args.get("desc"):
        raise Refusal("a percentile counts upwards there", "order ascending and take 1 - p")
    return call("PERCENTILE", ordered.this, inner.this, kind=Kind.DOUBLE)


def _percentile(node: exp.PercentileCont) -> exp.Expr:
    if node.expression is None:
        return node  # its WITHIN GROUP decides
    return call("PERCENTILE", node.this, node.expression, kind=Kind.DOUBLE)


def _discrete(node: exp.PercentileDisc) -> exp.Expr:
    if isinstance(node.parent, exp.WithinGroup):
        return node
    raise Refusal("a discrete percentile is a double there", _MEDIAN)


def _of_window(node: exp.FirstValue | exp.LastValue) -> exp.Expr:
    if node.find_ancestor(exp.Window, exp.Select).__class__ is exp.Window:
        return node
    raise Refusal("there it is a window function only", "use MIN, or arg_min(x, key)")


def _joined(node: exp.GroupConcat) -> exp.Expr:
    if isinstance(node.this, exp.Distinct):
        raise Refusal(
            "order and distinctness do not go together", "make the rows distinct in a subquery"
        )
    return node


_MEDIAN = "use percentile_cont, or ROW_NUMBER() and COUNT(*)"
_ARRIVAL = refused(
    "it depends on the order in which rows arrive", "use arg_min(x, key), or MIN, or FIRST_VALUE"
)
_ESTIMATE = refused("estimates differ between engines", "use COUNT(DISTINCT x)")
_SHAPE = refused(
    "it is defined differently there", "compute it from SUM(x), SUM(x * x) and COUNT(*)"
)


_SPREAD = (exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop)

COMMON: dict[type[exp.Expr], Rule] = {
    **all_same(
        *(exp.Count, exp.CountIf, exp.Sum, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr),
        *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.CumeDist, exp.PercentRank),
        *(exp.Lag, exp.Lead, exp.NthValue, exp.Median),
        *(exp.BitwiseAndAgg, exp.BitwiseOrAgg, exp.BitwiseXorAgg, exp.CovarPop, exp.CovarSamp),
        *_SPREAD,
    ),
    exp.AnyValue: same,
    exp.FirstValue: _of_window,
    exp.LastValue: _of_window,
    exp.First: _ARRIVAL,
    exp.Last: _ARRIVAL,
    exp.ArrayAgg: _collected,
    exp.ArgMax: _best_with_value,
    exp.ArgMin: _best_with_value,
    exp.GroupConcat: _joined,
    exp.WithinGroup: _within_group,
    exp.PercentileCont: _percentile,
    exp.PercentileDisc: _discrete,
    exp.Quantile: refused("its interpolation differs", "use percentile_cont"),
    exp.ApproxDistinct: _ESTIMATE,
    exp.ApproxQuantile: _ESTIMATE,
    exp.Mode: refused(
        "which of several most frequent values it takes differs", "GROUP BY and RANK"
    ),
    exp.Skewness: _SHAPE,
    exp.Kurtosis: _SHAPE,
    exp.Corr: _SHAPE,
}
DUCKDB: dict[type[exp.Expr], Rule] = {exp.Avg: _average_double}
_POSTGRES_DOUBLE = "DOUBLE PRECISION"
POSTGRES: dict[type[exp.Expr], Rule] = {
    exp.Avg: average(exact=(Kind.DOUBLE,), double=_POSTGRES_DOUBLE),
    **{each: in_double(same, _POSTGRES_DOUBLE) for each in _SPREAD},
}
DATAFUSION: dict[type[exp.Expr], Rule] = {
    exp.Avg: average(exact=(Kind.DOUBLE, Kind.INTEGER), double="DOUBLE"),
}
