"""What kind of value an expression has, as far as the query alone tells.

Tables may be unknown when a query is planned, so a plain column has no kind. A
rule that needs one then writes an expression that is right for every kind, or refuses.
"""

from __future__ import annotations

from enum import Enum, auto

from sqlglot import exp


class Kind(Enum):
    """Kinds that dialects treat differently."""

    INTEGER = auto()
    DECIMAL = auto()
    DOUBLE = auto()
    TEXT = auto()
    BOOLEAN = auto()
    DATE = auto()
    TIMESTAMP = auto()
    INSTANT = auto()
    INTERVAL = auto()
    ARRAY = auto()
    STRUCT = auto()
    OTHER = auto()


_T = exp.DataType.Type
_BY_TYPE = {
    **dict.fromkeys((_T.TINYINT, _T.SMALLINT, _T.INT, _T.BIGINT), Kind.INTEGER),
    _T.DECIMAL: Kind.DECIMAL,
    **dict.fromkeys((_T.DOUBLE, _T.FLOAT), Kind.DOUBLE),
    **dict.fromkeys((_T.TEXT, _T.VARCHAR, _T.CHAR, _T.NCHAR, _T.NVARCHAR), Kind.TEXT),
    _T.BOOLEAN: Kind.BOOLEAN,
    _T.DATE: Kind.DATE,
    **dict.fromkeys((_T.TIMESTAMP, _T.TIMESTAMPNTZ, _T.DATETIME), Kind.TIMESTAMP),
    **dict.fromkeys((_T.TIMESTAMPTZ, _T.TIMESTAMPLTZ), Kind.INSTANT),
    _T.INTERVAL: Kind.INTERVAL,
    **dict.fromkeys((_T.ARRAY, _T.LIST), Kind.ARRAY),
    _T.STRUCT: Kind.STRUCT,
}
_BY_NODE: dict[type[exp.Expr], Kind] = {
    **dict.fromkeys(
        (
            *(exp.Count, exp.CountIf, exp.Length, exp.Extract, exp.StrPosition, exp.RowNumber),
            *(exp.Rank, exp.DenseRank, exp.Ntile, exp.Year, exp.Month, exp.Day, exp.Quarter),
            *(exp.DayOfWeek, exp.WeekOfYear, exp.DateDiff, exp.IntDiv, exp.ArraySize, exp.Ascii),
            *(exp.DayOfYear, exp.Hour, exp.Minute, exp.Second),
        ),
        Kind.INTEGER,
    ),
    **dict.fromkeys(
        (
            *(exp.Sqrt, exp.Ln, exp.Exp, exp.Pow, exp.Log, exp.Cbrt, exp.Sin, exp.Cos, exp.Tan),
            *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),
            *(exp.Median, exp.CumeDist, exp.PercentRank, exp.Atan2, exp.Radians, exp.Degrees),
        ),
        Kind.DOUBLE,
    ),
    **dict.fromkeys(
        (
            *(exp.Upper, exp.Lower, exp.Concat, exp.ConcatWs, exp.DPipe, exp.Substring, exp.Trim),
            *(exp.Replace, exp.Left, exp.Right, exp.SplitPart, exp.TimeToStr, exp.GroupConcat),
            *(exp.RegexpReplace, exp.RegexpExtract, exp.Repeat, exp.Pad, exp.JSONExtractScalar),
            *(exp.MD5, exp.SHA2, exp.Chr, exp.Reverse),
        ),
        Kind.TEXT,
    ),
    **dict.fromkeys(
        (
            *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.And, exp.Or, exp.Not),
            *(exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.Exists, exp.Boolean),
            *(exp.LogicalAnd, exp.LogicalOr, exp.NullSafeEQ, exp.NullSafeNEQ, exp.StartsWith),
            exp.RegexpLike,
        ),
        Kind.BOOLEAN,
    ),
    **dict.fromkeys((exp.CurrentDate, exp.LastDay, exp.DateFromParts, exp.StrToDate), Kind.DATE),
    **dict.fromkeys((exp.CurrentTimestamp, exp.UnixToTime), Kind.INSTANT),
    exp.Interval: Kind.INTERVAL,
    **dict.fromkeys((exp.Array, exp.ArrayAgg, exp.StringToArray, exp.Split), Kind.ARRAY),
    exp.Struct: Kind.STRUCT,
}
_INNER = (exp.Paren, exp.Neg, exp.Window, exp.Filter, exp.IgnoreNulls, exp.Alias, exp.Abs)
_FIRST = (exp.Min, exp.Max, exp.Sum, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)
_ALL = (exp.Coalesce, exp.Greatest, exp.Least)
_NUMERIC = (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)

GIVEN = "kind"


def kind_of(node: object) -> Kind | None:
    """Return the kind of *node*; None where only the tables could tell."""
    if not isinstance(node, exp.Expr):
        return None
    given: Kind | None = node.meta.get(GIVEN)
    if given is not None:
        return given
    if isinstance(node, exp.Literal):
        return _literal(node)
    if isinstance(node, exp.Cast | exp.TryCast):
        return kind_of_type(node.to)
    if isinstance(node, _INNER + _FIRST):
        return kind_of(node.this)
    if isinstance(node, _ALL):
        return _agreed([kind_of(each) for each in (node.this, *node.expressions)])
    if isinstance(node, exp.Case):
        branches = [each.args["true"] for each in node.args["ifs"]]
        return _agreed([kind_of(each) for each in (*branches, node.args.get("default"))])
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Mod):
        return _arithmetic(kind_of(node.this), kind_of(node.expression))
    if isinstance(node, exp.Subquery | exp.Select):
        query = node.unnest() if isinstance(node, exp.Subquery) else node
        outputs = query.selects if isinstance(query, exp.Query) else []
        return kind_of(outputs[0]) if len(outputs) == 1 else None
    return _BY_NODE.get(type(node))


def kind_of_type(kind: exp.DataType) -> Kind:
    """Return the kind of a type's values."""
    return _BY_TYPE.get(kind.this, Kind.OTHER)


def integer(node: object) -> int | None:
    """Return the value of an integer literal, with its sign."""
    if isinstance(node, exp.Paren):
        return integer(node.this)
    if isinstance(node, exp.Neg):
        inner = integer(node.this)
        return None if inner is None else -inner
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        return int(node.name)
    return None


def text(node: object) -> str | None:
    """Return the value of a text literal."""
    return str(node.this) if isinstance(node, exp.Literal) and node.is_string else None


def _literal(node: exp.Literal) -> Kind:
    if node.is_string:
        return Kind.TEXT
    if node.name.isdigit():
        return Kind.INTEGER
    return Kind.DOUBLE if "e" in node.name.lower() else Kind.DECIMAL


def _agreed(kinds: list[Kind | None]) -> Kind | None:
    known = set(kinds)
    return known.pop() if len(known) == 1 else None


def _arithmetic(left: Kind | None, right: Kind | None) -> Kind | None:
    if Kind.DOUBLE in (left, right) and Kind.INTERVAL not in (left, right):
        return Kind.DOUBLE
    if left is None or right is None:
        return None
    if left in _NUMERIC and right in _NUMERIC:
        return Kind.INTEGER if left is right is Kind.INTEGER else Kind.DECIMAL
    if left is right is Kind.INTERVAL or {left, right} == {Kind.INTERVAL, Kind.INTEGER}:
        return Kind.INTERVAL
    if left in (Kind.TIMESTAMP, Kind.INSTANT) and right is Kind.INTERVAL:
        return left
    if left is Kind.DATE and right is Kind.INTEGER:
        return Kind.DATE
    return None
