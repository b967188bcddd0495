"""Casts on their way to Spark."""

from __future__ import annotations

import re

from sqlglot import exp

from ematix_flow.sqltext.translate.arithmetic import FLOATING
from ematix_flow.sqltext.translate.build import Rule, call, cast, refused, string, type_is, unless
from ematix_flow.sqltext.translate.kinds import Kind, kind_of, kind_of_type, text
from ematix_flow.sqltext.translate.refusal import Refusal

_OFFSET = re.compile(r":.*[+-]\d\d(:?\d\d)?$|Z$| [A-Za-z]+/[A-Za-z_]+$")
_DATE = re.compile(r"\s*\d{4}-\d{1,2}-\d{1,2}([ T].*)?")
# Their text is not the same on two engines: 1e+20 and 1.0E20, [1, 2] and {1,2}, with a zone or not.
_NO_COMMON_TEXT = "^(double|float|timestamp|binary|array|map|struct|interval|variant)"


def rounding_cast(node: exp.Cast, *, length_cuts: bool) -> exp.Expr:
    """Cast as DuckDB and PostgreSQL do: a number with a fraction is rounded to an integer."""
    target = kind_of_type(node.to)
    if target is Kind.INTEGER:
        return _to_integer(node)
    return _other(node, target, length_cuts=length_cuts)


def truncating_cast(node: exp.Cast) -> exp.Expr:
    """Cast as DataFusion does: like Spark, the fraction is cut off."""
    target = kind_of_type(node.to)
    if target is Kind.INTEGER:
        return node
    if target is Kind.TEXT and kind_of(node.this) is Kind.TIMESTAMP:
        raise Refusal("the text of a timestamp has a T here", "use to_char with a format")
    if target is Kind.INSTANT:
        raise Refusal("TIMESTAMP WITH TIME ZONE has no zone in DataFusion", "CAST to TIMESTAMP")
    return _other(node, target, length_cuts=False)


def _to_integer(node: exp.Cast) -> exp.Expr:
    value, kind = node.this, kind_of(node.this)
    even = _into(call("BROUND", cast(value, "double")), node)
    match kind:
        case Kind.DECIMAL:
            return _into(exp.Round(this=value.copy()), node)
        case Kind.DOUBLE:
            return even
        case None:
            # Spark folds TYPEOF when it plans; each branch has the type of the cast.
            away = _into(exp.Round(this=cast(value, "decimal(38, 18)")), node)
            is_decimal = exp.Like(this=call("TYPEOF", value), expression=string("decimal%"))
            case = exp.Case().when(is_decimal, away).when(type_is(value, FLOATING), even)
            return case.else_(node.copy())
        case _:
            return node


def _into(value: exp.Expr, like: exp.Cast) -> exp.Cast:
    return exp.Cast(this=value, to=like.to.copy())


def _other(node: exp.Cast, target: Kind, *, length_cuts: bool) -> exp.Expr:
    match target:
        case Kind.TEXT:
            return _to_text(node, length_cuts=length_cuts)
        case Kind.DECIMAL:
            return _to_decimal(node)
        case Kind.DATE:
            return _to_date(node)
        case Kind.TIMESTAMP | Kind.INSTANT:
            return _to_timestamp(node, target)
        case Kind.DOUBLE if node.to.this is exp.DataType.Type.FLOAT:
            raise Refusal("a number of 4 bytes is computed with differently", "CAST to DOUBLE")
        case Kind.DOUBLE | Kind.BOOLEAN:
            return node
        case Kind.ARRAY if isinstance(node.this, exp.Array) and not node.this.expressions:
            return node
        case _:
            raise Refusal(
                f"the type {node.to.sql()} has no equal there",
                "CAST to INTEGER, DECIMAL(p, s), DOUBLE, TEXT, DATE or TIMESTAMP",
            )


def _to_text(node: exp.Cast, *, length_cuts: bool) -> exp.Expr:
    value, kind = node.this, kind_of(node.this)
    if kind in (Kind.DOUBLE, Kind.INSTANT, Kind.ARRAY, Kind.STRUCT, Kind.INTERVAL, Kind.OTHER):
        raise Refusal(
            f"the text of a value of kind {kind.name.lower()} differs",
            "CAST a number to DECIMAL(p, s) first; format a timestamp with an explicit pattern",
        )
    plain: exp.Expr = cast(value, "text")
    if kind is None:
        odd: exp.Expr = exp.RegexpLike(
            this=call("TYPEOF", value), expression=string(_NO_COMMON_TEXT)
        )
        # `timestamp_ntz` begins like `timestamp`, and its text is the same everywhere.
        odd = exp.and_(odd, exp.NEQ(this=call("TYPEOF", value), expression=string("timestamp_ntz")))
        plain = unless(odd, "the text of this type differs between engines", plain)
    size = node.to.expressions
    if size and length_cuts:
        if node.to.this in (exp.DataType.Type.CHAR, exp.DataType.Type.NCHAR):
            raise Refusal("CHAR(n) is padded here", "use VARCHAR(n) or TEXT")
        return exp.Left(this=plain, expression=size[0].this.copy())
    return plain


def _to_decimal(node: exp.Cast) -> exp.Expr:
    if not node.to.expressions:
        raise Refusal(
            "DECIMAL without precision differs everywhere", "write DECIMAL(precision, scale)"
        )
    kind = kind_of(node.this)
    if kind is Kind.DOUBLE:
        raise Refusal(
            "halves of a double round differently into a decimal",
            "round explicitly: CAST(FLOOR(x * 100 + 0.5) AS BIGINT) for cents",
        )
    if kind is None:
        message = "a double cast to a decimal rounds differently here: FLOOR(x * 100 + 0.5) ..."
        return unless(type_is(node.this, FLOATING), message, node)
    return node


def _to_date(node: exp.Cast) -> exp.Expr:
    literal = text(node.this)
    if literal is not None and not _DATE.fullmatch(literal):
        raise Refusal("not every engine reads this as a date", "write it as 'YYYY-MM-DD'")
    return node


def _to_timestamp(node: exp.Cast, target: Kind) -> exp.Expr:
    literal = text(node.this)
    if literal is not None:
        if not _DATE.fullmatch(literal):
            raise Refusal(
                "not every engine reads this as a time", "write it as 'YYYY-MM-DD HH:MM:SS'"
            )
        if target is Kind.TIMESTAMP and _OFFSET.search(literal):
            raise Refusal(
                "the offset is ignored here and counted there", "CAST to TIMESTAMPTZ instead"
            )
    return cast(node.this, "timestampntz" if target is Kind.TIMESTAMP else "timestampltz")


_TRY = refused(
    "which values do not convert, and so become NULL, differs between engines",
    "test first: CASE WHEN regexp ... THEN CAST(...) END",
)


def _duckdb(node: exp.Cast) -> exp.Expr:
    if kind_of_type(node.to) is Kind.DECIMAL and not node.to.expressions:
        node.set("to", exp.DataType.build("decimal(18, 3)"))
    return rounding_cast(node, length_cuts=False)


def _postgres(node: exp.Cast) -> exp.Expr:
    return rounding_cast(node, length_cuts=True)


DUCKDB: dict[type[exp.Expr], Rule] = {exp.Cast: _duckdb, exp.TryCast: _TRY}
POSTGRES: dict[type[exp.Expr], Rule] = {exp.Cast: _postgres, exp.TryCast: _TRY}
DATAFUSION: dict[type[exp.Expr], Rule] = {exp.Cast: truncating_cast, exp.TryCast: _TRY}
