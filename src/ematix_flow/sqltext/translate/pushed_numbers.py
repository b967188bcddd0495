"""Numbers and casts on their way from Spark into a database."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.sqltext.translate.build import Rule, call, cast, number, string
from ematix_flow.sqltext.translate.kinds import GIVEN, Kind, kind_of, kind_of_type
from ematix_flow.sqltext.translate.refusal import Refusal

_EXACT = (Kind.INTEGER, Kind.DECIMAL)
_CAST_DOUBLE = "CAST an operand to DOUBLE"


def division(*, infinite: bool) -> Rule:
    """Divide in floating point; by zero is an error in Spark, infinity in DuckDB."""

    def rule(node: exp.Div) -> exp.Expr:
        left, right = kind_of(node.this), kind_of(node.expression)
        if left is right is Kind.INTEGER:
            above: exp.Expr = cast(node.this, "double")
        elif Kind.DOUBLE in (left, right):
            above = cast(node.this, "double")
        else:
            raise Refusal("a quotient of decimals has other digits there", _CAST_DOUBLE)
        below = node.expression.copy()
        below = exp.paren(below, copy=False) if isinstance(below, exp.Binary) else below
        quotient: exp.Expr = exp.Div(this=above, expression=below, typed=True)
        if infinite and not _literal(node.expression):
            zero = exp.EQ(this=below.copy(), expression=number(0))
            quotient = (
                exp.Case().when(zero, call("error", string("division by zero"))).else_(quotient)
            )
        elif infinite and _literal(node.expression) == 0:
            raise Refusal("dividing by zero is an error here", "divide by something else")
        quotient.meta[GIVEN] = Kind.DOUBLE
        return quotient

    return rule


def _literal(node: exp.Expr) -> float | None:
    if isinstance(node, exp.Literal) and not node.is_string:
        return float(node.name)
    if isinstance(node, exp.Neg | exp.Paren | exp.Cast):
        return _literal(node.this)
    return None


def whole_division(node: exp.IntDiv) -> exp.Expr:
    """Divide integers without a fraction."""
    if kind_of(node.this) is kind_of(node.expression) is Kind.INTEGER:
        return node
    raise Refusal("DIV is the same only for integers", "CAST both sides to BIGINT")


def rounded(*, half_even: bool) -> Rule:
    """Round what both sides round alike."""

    def rule(node: exp.Round) -> exp.Expr:
        kind = kind_of(node.this)
        if kind in _EXACT:
            return node
        if kind is Kind.DOUBLE and node.args.get("decimals") is None and not half_even:
            return node
        raise Refusal(
            "halves of a double are rounded differently there", "CAST to DECIMAL(p, s) first"
        )

    return rule


def null_below(node: exp.Func) -> exp.Expr:
    """Answer NULL to the logarithm of what has none, as Spark does."""
    value = exp.paren(node.this.copy(), copy=False)
    none = exp.LTE(this=value, expression=number(0))
    logarithm = node.copy()
    logarithm.set("this", cast(node.this, "double"))
    result = exp.Case().when(none, exp.null()).else_(logarithm)
    result.meta[GIVEN] = Kind.DOUBLE
    return result


def cast_rule(*, lenient_text: bool) -> Rule:
    """Cast; Spark cuts fractions off where the databases round.

    :param lenient_text: Whether a text such as '1.5' becomes an integer there.
    """

    def rule(node: exp.Cast) -> exp.Expr:
        if node.args.get("safe"):
            raise Refusal(
                "which values do not convert, and so become NULL, differs between engines",
                "test first: CASE WHEN x RLIKE ... THEN CAST(...) END",
            )
        plain = exp.Cast(this=node.this.copy(), to=node.to.copy())
        kind, target = kind_of(node.this), kind_of_type(node.to)
        match target:
            case Kind.INTEGER:
                return _to_integer(plain, kind, lenient_text=lenient_text)
            case Kind.TEXT:
                return _to_text(plain, kind)
            case Kind.DECIMAL:
                return _to_decimal(plain, kind)
            case Kind.DOUBLE | Kind.BOOLEAN | Kind.DATE | Kind.TIMESTAMP | Kind.INSTANT:
                return plain
            case _:
                raise Refusal(
                    "this type has no equal there", "CAST to a number, STRING, DATE or TIMESTAMP"
                )

    return rule


def _to_integer(node: exp.Cast, kind: Kind | None, *, lenient_text: bool) -> exp.Expr:
    if kind in (Kind.INTEGER, Kind.BOOLEAN) or (kind is Kind.TEXT and not lenient_text):
        return node
    if kind is Kind.TEXT:
        raise Refusal("'1.5' is an integer there and an error here", "CAST to DECIMAL(p, s) first")
    # TRUNC takes numbers only, so that a text or a boolean is an error there, not a value.
    node.set("this", call("TRUNC", node.this))
    return node


def _to_text(node: exp.Cast, kind: Kind | None) -> exp.Expr:
    if node.to.expressions:
        raise Refusal("lengths of texts are kept differently", "CAST to STRING, and use LEFT")
    if kind in (Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.BOOLEAN, Kind.DECIMAL):
        node.set("to", exp.DataType.build("text"))
        return node
    raise Refusal(
        "the text of some types differs there", "CAST to BIGINT, DECIMAL(p, s) or DATE first"
    )


def _to_decimal(node: exp.Cast, kind: Kind | None) -> exp.Expr:
    if not node.to.expressions:
        node.set("to", exp.DataType.build("decimal(10, 0)"))
    if kind in (*_EXACT, Kind.TEXT):
        return node
    raise Refusal(
        "a double is rounded differently into a decimal there", "CAST integers or texts only"
    )


def double_literal(node: exp.Literal) -> exp.Expr:
    """Keep 1e3 a double: it is a numeric in PostgreSQL."""
    if node.is_string or "e" not in node.name.lower():
        return node
    return cast(node, "double")


def average(*, whole_is_decimal: bool) -> Rule:
    """Average what is a double on both sides."""

    def rule(node: exp.Avg) -> exp.Expr:
        kind = kind_of(node.this)
        if kind is Kind.INTEGER and whole_is_decimal:
            node.set("this", cast(node.this, "double"))
        elif kind not in (Kind.DOUBLE, Kind.INTEGER):
            raise Refusal(
                "the mean of decimals has other digits there", "CAST the argument to DOUBLE"
            )
        node.meta[GIVEN] = Kind.DOUBLE
        return node

    return rule


def in_double(node: exp.Func) -> exp.Expr:
    """Compute in floating point, as Spark does."""
    if kind_of(node.this) is not Kind.DOUBLE:
        node.set("this", cast(node.this, "double"))
    return node
