"""Numbers on their way to Spark: division, rounding, and functions that answer NULL to nonsense."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from ematix_flow.sqltext.translate.build import (
    Rule,
    call,
    cast,
    number,
    refused,
    same,
    type_is,
    unless,
)
from ematix_flow.sqltext.translate.kinds import GIVEN, Kind, integer, kind_of
from ematix_flow.sqltext.translate.refusal import Refusal

FLOATING = ("double", "float")
_EXACT = (Kind.INTEGER, Kind.DECIMAL)
_CAST = "CAST an operand: {} for a fraction, BIGINT on both sides for whole numbers"


def float_division(node: exp.Div) -> exp.Expr:
    """Divide as DuckDB does: in floating point, whatever the operands are."""
    left, right = kind_of(node.this), kind_of(node.expression)
    if left is Kind.INTERVAL:
        return node
    if left is right is Kind.INTEGER or (left is right is Kind.DOUBLE):
        quotient = _division(node.this, node.expression)
    else:
        quotient = _division(_double(node.this), _double(node.expression))
    quotient.meta[GIVEN] = Kind.DOUBLE
    return quotient


def typed_division(double: str) -> Rule:
    """Divide as PostgreSQL and DataFusion do: whole numbers stay whole."""

    def rule(node: exp.Div) -> exp.Expr:
        left, right = kind_of(node.this), kind_of(node.expression)
        if left is right is Kind.INTEGER:
            return exp.IntDiv(this=node.this.copy(), expression=node.expression.copy())
        if Kind.DOUBLE in (left, right):
            quotient = _division(_double(node.this), _double(node.expression))
            quotient.meta[GIVEN] = Kind.DOUBLE
            return quotient
        if left in _EXACT and right in _EXACT:
            raise Refusal("a quotient of decimals has other digits there", _CAST.format(double))
        raise Refusal(
            "whether `/` divides whole numbers depends on the columns' types",
            _CAST.format(double),
        )

    return rule


def whole_division(node: exp.IntDiv) -> exp.Expr:
    """Divide integers without a fraction; of other numbers every engine has its own idea."""
    if kind_of(node.this) is kind_of(node.expression) is Kind.INTEGER:
        return node
    raise Refusal("`//` is the same only for integers", "CAST both sides to BIGINT")


def _division(left: exp.Expr, right: exp.Expr) -> exp.Div:
    return exp.Div(this=_operand(left), expression=_operand(right))


def _operand(node: exp.Expr) -> exp.Expr:
    node = node.copy()
    return exp.paren(node, copy=False) if isinstance(node, exp.Binary) else node


def _double(node: exp.Expr) -> exp.Expr:
    return node if kind_of(node) is Kind.DOUBLE else cast(node, "double")


def round_half_away(node: exp.Round) -> exp.Expr:
    """Round as DuckDB and DataFusion do: a double is scaled, rounded and scaled back."""
    digits = node.args.get("decimals")
    if digits is None:
        return node
    places = integer(digits)
    if places is None:
        raise Refusal(
            "rounding to a computed number of places differs", "write the number of places"
        )
    kind = kind_of(node.this)
    if kind in _EXACT:
        return node
    if kind is Kind.DOUBLE:
        return _scaled(node.this, places)
    message = f"round(x, {places}) of a double: write round(CAST(x AS DOUBLE), {places})"
    return unless(type_is(node.this, FLOATING), message, node)


def _scaled(value: exp.Expr, places: int) -> exp.Expr:
    scale = exp.Literal.number(f"1E{abs(places)}")
    inwards, outwards = (exp.Mul, exp.Div) if places >= 0 else (exp.Div, exp.Mul)
    scaled = exp.Round(this=inwards(this=_operand(value), expression=scale))
    result = outwards(this=scaled, expression=scale.copy())
    result.meta[GIVEN] = Kind.DOUBLE
    return exp.paren(result, copy=False)


def round_postgres(node: exp.Round) -> exp.Expr:
    """Round as PostgreSQL does: a double to the even neighbour, a numeric away from zero."""
    if node.args.get("decimals") is not None:
        return node
    kind = kind_of(node.this)
    if kind in _EXACT:
        return node
    even = call("BROUND", node.this)
    if kind is Kind.DOUBLE:
        even.meta[GIVEN] = Kind.DOUBLE
        return even
    return call("IF", type_is(node.this, FLOATING), even, node)


def whole(node: exp.Func) -> exp.Expr:
    """Keep CEIL and FLOOR within what a BIGINT holds, which is what Spark makes of a double."""
    if node.args.get("decimals") is not None or node.args.get("to") is not None:
        raise Refusal("it takes one argument there", "scale the number before and after")
    kind = kind_of(node.this)
    if kind in _EXACT:
        return node
    size = exp.LT(this=exp.Abs(this=cast(node.this, "double")), expression=_literal("9E18"))
    beyond: exp.Expr = exp.not_(size)
    if kind is not Kind.DOUBLE:
        beyond = exp.and_(type_is(node.this, FLOATING), beyond)
    return unless(beyond, f"{node.key} of a number beyond a BIGINT", node)


def positive(node: exp.Func) -> exp.Expr:
    """Make the logarithm of what has none an error: Spark would answer NULL."""
    return unless(
        exp.LTE(this=_operand(node.this), expression=number(0)),
        f"{node.key} of a number that is not positive",
        node,
    )


def log(node: exp.Log) -> exp.Expr:
    """Say LOG(x) and LOG(base, x) by name: Spark's LOG(x) is the natural one."""
    base, of = (node.this, node.expression) if node.expression else (None, node.this)
    if base is not None:
        outside: exp.Expr = exp.or_(
            *(exp.LTE(this=_operand(e), expression=number(0)) for e in (base, of))
        )
        value = call("LOG", base, of, kind=Kind.DOUBLE)
    else:
        outside = exp.LTE(this=_operand(of), expression=number(0))
        value = call("LOG10", of, kind=Kind.DOUBLE)
    return unless(outside, "log of a number that is not positive", value)


def not_negative(node: exp.Sqrt) -> exp.Expr:
    """Make the root of a negative number an error: Spark would answer NaN."""
    below = exp.LT(this=_operand(node.this), expression=number(0))
    return unless(below, "sqrt of a negative number", node)


def in_double(rule: Rule, double: str) -> Rule:
    """Allow *rule* for doubles and integers only: a decimal would become a double there."""

    def checked(node: exp.Func) -> exp.Expr:
        arguments = [each for each in node.iter_expressions() if not isinstance(each, exp.Order)]
        if any(kind_of(each) not in (Kind.INTEGER, Kind.DOUBLE) for each in arguments):
            raise Refusal(
                f"{node.sql_name()} of a decimal is a decimal here and a double there",
                f"CAST the argument to {double}",
            )
        return rule(node)

    return checked


def decimal_literal(node: exp.Literal) -> exp.Expr:
    """Keep PostgreSQL's 1e3 a decimal: with an exponent it is a double on Spark."""
    if node.is_string or "e" not in node.name.lower():
        return node
    return exp.Literal.number(f"{Decimal(node.name):f}")


def double_literal(node: exp.Literal) -> exp.Expr:
    """Keep DataFusion's 1.5 a double: without an exponent it is a decimal on Spark."""
    if node.is_string or node.name.isdigit() or "e" in node.name.lower():
        return node
    return exp.Literal.number(f"{node.name}E0")


def _literal(value: str) -> exp.Expr:
    return exp.Literal.number(value)


_SHIFT = refused("shifting past the last bit differs", "multiply or divide by a power of two")

COMMON: dict[type[exp.Expr], Rule] = {
    exp.Abs: same,
    exp.Sign: same,
    exp.Exp: same,
    exp.Pow: same,
    exp.Sqrt: not_negative,
    exp.Ln: positive,
    exp.Log: log,
    exp.Ceil: whole,
    exp.Floor: whole,
    exp.Cbrt: same,
    exp.Pi: same,
    **dict.fromkeys((exp.Sin, exp.Cos, exp.Tan, exp.Atan, exp.Atan2), same),
    **dict.fromkeys((exp.Degrees, exp.Radians), same),
    **dict.fromkeys((exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot), same),
    exp.BitwiseLeftShift: _SHIFT,
    exp.BitwiseRightShift: _SHIFT,
    exp.Trunc: refused(
        "there is no truncation of numbers", "SIGN(x) * FLOOR(ABS(x)), or CAST after FLOOR"
    ),
}
DUCKDB: dict[type[exp.Expr], Rule] = {
    exp.Div: float_division,
    exp.IntDiv: whole_division,
    exp.Round: round_half_away,
    exp.Sqrt: same,
}
_NUMERIC_IN_POSTGRES = (exp.Exp, exp.Pow, exp.Ln, exp.Log, exp.Sqrt, exp.Sign)
POSTGRES: dict[type[exp.Expr], Rule] = {
    exp.Div: typed_division("DOUBLE PRECISION"),
    exp.IntDiv: whole_division,
    exp.Round: round_postgres,
    exp.Literal: decimal_literal,
    **{each: in_double(COMMON[each], "DOUBLE PRECISION") for each in _NUMERIC_IN_POSTGRES},
}
DATAFUSION: dict[type[exp.Expr], Rule] = {
    exp.Div: typed_division("DOUBLE"),
    exp.IntDiv: whole_division,
    exp.Round: round_half_away,
    exp.Literal: double_literal,
}
