"""All rules on the way from Spark to a database's own dialect, for queries pushed into a source.

Spark raises errors (ANSI) where a database may answer: there the database is made to raise too,
or the query is refused. Casts are `TryCast` nodes here, since sqlglot takes Spark for lenient.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from ematix_flow.sqltext.translate import (
    aggregates,
    arithmetic,
    dates,
    patterns,
    pushed_dates,
    pushed_numbers,
    strings,
)
from ematix_flow.sqltext.translate.build import (
    Rule,
    Rules,
    all_same,
    call,
    number,
    refused,
    same,
    string,
)
from ematix_flow.sqltext.translate.kinds import (
    Kind,
    integer,
    kind_of,
    text,
)
from ematix_flow.sqltext.translate.refusal import Refusal
from ematix_flow.sqltext.translate.shape import SHAPE, star_in_order


def _like(node: exp.Like | exp.ILike) -> exp.Expr:
    """Name the escape, which Spark has by default."""
    if isinstance(node.parent, exp.Escape):
        return node
    if isinstance(node.expression, exp.Any | exp.All | exp.Tuple):
        raise Refusal("a list of patterns is not known there", "join the LIKE conditions with OR")
    pattern = text(node.expression)
    if pattern is not None and "\\" not in pattern:
        return node
    return exp.Escape(this=node.copy(), expression=string("\\"))


_JAVA = re.compile(r"(?:[\w \-_,;:@/#]|[|^()]|[*+?](?![+?])|\[\^?[\w \-_,;:@/#]+\])*")


def _matches(node: exp.RegexpLike) -> exp.Expr:
    pattern = text(node.expression)
    if pattern is None or not _JAVA.fullmatch(pattern) or "(?" in pattern:
        raise Refusal(
            "this pattern uses what regular expression engines read differently",
            "keep to literals, [classes], (groups), | * + ? ^",
        )
    return node


def _concat(node: exp.Concat) -> exp.Expr:
    if any(kind_of(each) is Kind.DOUBLE for each in node.expressions):
        raise Refusal(
            "the text of a floating point number differs", "CAST it to DECIMAL(p, s) first"
        )
    joined: exp.Expr = exp.paren(node.expressions[0].copy(), copy=False)
    for each in node.expressions[1:]:
        joined = exp.DPipe(this=joined, expression=exp.paren(each.copy(), copy=False), safe=False)
    return exp.paren(joined, copy=False)


def _positive_literals(rule: Rule) -> Rule:
    """Allow *rule* where it needs no check while the query runs."""

    def checked(node: exp.Expr) -> exp.Expr:
        if rule(node) is not node:
            raise Refusal("below 1 every engine counts differently", "use literal positions from 1")
        return node

    return checked


def _collected(node: exp.ArrayAgg, empty: exp.Expr) -> exp.Expr:
    if isinstance(node.this, exp.Order | exp.Distinct) or isinstance(
        node.parent, exp.Filter | exp.Window
    ):
        raise Refusal(
            "an array is collected with NULLs there", "filter in a subquery, then collect"
        )
    present = exp.not_(exp.Is(this=node.this.copy(), expression=exp.null()))
    agg = exp.Filter(this=exp.ArrayAgg(this=node.this.copy()), expression=exp.Where(this=present))
    return exp.Coalesce(this=agg, expressions=[empty])


def _element(node: exp.Anonymous) -> exp.Expr:
    array, index = node.expressions
    position = integer(index)
    if position is None or position < 0:
        raise Refusal("only a literal position is certain", "use get(array, 0) with a number")
    return exp.Bracket(
        this=exp.paren(array.copy(), copy=False), expressions=[number(position)], offset=0
    )


def _named(node: exp.Anonymous) -> exp.Expr:
    match node.name.lower():
        case "get" if len(node.expressions) == 2:
            return _element(node)
        case "make_date":
            return node
        case name:
            raise Refusal(
                f"nobody has proven that {name} means the same there",
                "let the query run on Spark, or write it in the database's dialect",
            )


def _select(node: exp.Select) -> exp.Expr:
    star_in_order(node)
    laterals = node.args.get("laterals") or []
    for lateral in laterals:
        if lateral.args.get("outer") or not isinstance(lateral.this, exp.Explode):
            raise Refusal(
                "only LATERAL VIEW EXPLODE has an equal there", "use EXPLODE, without OUTER"
            )
        alias = lateral.args["alias"]
        unnest = exp.Unnest(expressions=[lateral.this.this.copy()], alias=alias.copy())
        node.append("joins", exp.Join(this=unnest, kind="CROSS"))
    node.set("laterals", None)
    return node


def _group(*, all_known: bool) -> Rule:
    def rule(node: exp.Group) -> exp.Expr:
        if node.args.get("all") and not all_known:
            raise Refusal("there is no GROUP BY ALL", "list the columns")
        return node

    return rule


def _counted(node: exp.CountIf) -> exp.Expr:
    if isinstance(node.parent, exp.Filter):
        raise Refusal("it has a FILTER already", "use COUNT(*) FILTER (WHERE ...)")
    count = exp.Count(this=exp.Star())
    return exp.Filter(this=count, expression=exp.Where(this=node.this.copy()))


def _plain_star(node: exp.Star) -> exp.Expr:
    if node.args.get("except_") or node.args.get("except"):
        raise Refusal("* has no EXCEPT there", "name the columns")
    return SHAPE[exp.Star](node)


_TO_DATE = refused("what it reads as a date differs", "CAST a text like '2024-01-31' to DATE")
_NOT_THERE = refused("NULLs or errors are treated differently there", "let the query run on Spark")
_INDEX = refused("past its end an array raises here, and is NULL there", "use get(array, 0)")

_COMMON: dict[type[exp.Expr], Rule] = {
    **SHAPE,
    **all_same(
        *(exp.Abs, exp.Exp, exp.Pow, exp.Upper, exp.Lower, exp.Trim, exp.Replace, exp.Repeat),
        *(exp.Reverse, exp.Translate, exp.StartsWith, exp.MD5, exp.ConcatWs, exp.Length),
        *(exp.Sum, exp.Count, exp.Min, exp.Max, exp.LogicalAnd, exp.LogicalOr, exp.Array),
        *(exp.CurrentDate, exp.CurrentTimestamp, exp.Ceil, exp.Floor, exp.Explode, exp.Sqrt),
        *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.CumeDist, exp.PercentRank),
        *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue, exp.GroupConcat),
        *(exp.WithinGroup, exp.TsOrDsToDate, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor),
    ),
    exp.Select: _select,
    exp.Ln: pushed_numbers.null_below,
    exp.Log: refused("a logarithm to a base differs", "use LN(x) / LN(base)"),
    exp.IntDiv: pushed_numbers.whole_division,
    exp.Interval: dates.COMMON[exp.Interval],
    exp.Add: pushed_dates.shifted,
    exp.Sub: pushed_dates.shifted,
    exp.TsOrDsAdd: pushed_dates.plus_days,
    exp.DateDiff: pushed_dates.days_between,
    exp.Extract: pushed_dates.extract,
    exp.DayOfWeek: pushed_dates.day_of_week,
    exp.Year: pushed_dates.part("year"),
    exp.Month: pushed_dates.part("month"),
    exp.Day: pushed_dates.part("day"),
    exp.DayOfMonth: pushed_dates.part("day"),
    exp.Quarter: pushed_dates.part("quarter"),
    exp.WeekOfYear: pushed_dates.part("week"),
    exp.DayOfYear: pushed_dates.part("doy"),
    exp.Hour: pushed_dates.part("hour"),
    exp.Minute: pushed_dates.part("minute"),
    exp.TimestampTrunc: dates.truncated(date_zoned=True),
    exp.DateTrunc: refused("units are named differently", "use date_trunc('month', d)"),
    exp.TimeToStr: pushed_dates.formatted,
    exp.LastDay: same,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: same,
    exp.RegexpLike: _matches,
    exp.Concat: _concat,
    exp.Substring: _positive_literals(strings.COMMON[exp.Substring]),
    exp.Left: _positive_literals(strings.COMMON[exp.Left]),
    exp.Right: _positive_literals(strings.COMMON[exp.Right]),
    exp.StrPosition: strings.COMMON[exp.StrPosition],
    exp.SplitPart: strings.COMMON[exp.SplitPart],
    exp.Pad: _positive_literals(strings.COMMON[exp.Pad]),
    exp.CountIf: _counted,
    exp.Bracket: _INDEX,
    exp.ArrayContains: _NOT_THERE,
    exp.ArgMax: _NOT_THERE,
    exp.ArgMin: _NOT_THERE,
    exp.JSONExtractScalar: _NOT_THERE,
    exp.StrToDate: _TO_DATE,
    exp.StrToTime: _TO_DATE,
    exp.StrToUnix: _TO_DATE,
    exp.First: aggregates.COMMON[exp.First],
    exp.Last: aggregates.COMMON[exp.Last],
    exp.RegexpReplace: refused("patterns and groups differ", "use REPLACE for plain text"),
    exp.RegexpExtract: refused("patterns and groups differ", "use SPLIT_PART for plain text"),
    exp.RegexpSplit: patterns.POSTGRES[exp.RegexpSplit],
    exp.ApproxDistinct: aggregates.COMMON[exp.ApproxDistinct],
    exp.BitwiseLeftShift: arithmetic.COMMON[exp.BitwiseLeftShift],
    exp.Anonymous: _named,
}

_SPREAD = (exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop)

FROM_SPARK: Mapping[str, Rules] = {
    "duckdb": {
        **_COMMON,
        **all_same(*_SPREAD, exp.Median, exp.Struct, exp.PropertyEQ, exp.Transform),
        **all_same(exp.ArrayFilter, exp.ArraySize),
        exp.ArrayAgg: lambda node: _collected(node, exp.Array(expressions=[])),
        exp.Div: pushed_numbers.division(infinite=True),
        exp.Round: pushed_numbers.rounded(half_even=False),
        exp.Cast: pushed_numbers.cast_rule(lenient_text=True),
        exp.TryCast: pushed_numbers.cast_rule(lenient_text=True),
        exp.Avg: pushed_numbers.average(whole_is_decimal=False),
    },
    "postgres": {
        **_COMMON,
        **dict.fromkeys(_SPREAD, pushed_numbers.in_double),
        exp.Exp: pushed_numbers.in_double,
        exp.Pow: refused("powers of decimals are decimals there", "CAST the base to DOUBLE"),
        exp.Sqrt: pushed_numbers.in_double,
        exp.ArrayAgg: lambda node: _collected(node, string("{}")),
        exp.Div: pushed_numbers.division(infinite=False),
        exp.Round: pushed_numbers.rounded(half_even=True),
        exp.Cast: pushed_numbers.cast_rule(lenient_text=False),
        exp.TryCast: pushed_numbers.cast_rule(lenient_text=False),
        exp.Avg: pushed_numbers.average(whole_is_decimal=True),
        exp.Literal: pushed_numbers.double_literal,
        exp.Group: _group(all_known=False),
        exp.ArraySize: lambda node: call("CARDINALITY", node.this, kind=Kind.INTEGER),
        exp.Struct: refused("there are no structs with names", "select the fields"),
        exp.Star: _plain_star,
    },
}
