"""Number markers as expressions."""

from __future__ import annotations

import re

from sqlglot import exp

from ematix_flow.spec.normalize.number import Clamp, ParseInt, ParseNumeric, Round
from ematix_flow.spec.types import DataType, Numeric
from ematix_flow.sqltext.markers.nodes import (
    Node,
    Template,
    call,
    case,
    cast,
    literal,
    matches,
    number,
    replaced,
    stripped,
    text,
    try_cast,
)

_DIGITS = 38
_USUAL_SCALE = 18
_WIDE = f"decimal({_DIGITS}, 0)"


def parse_int_templates(marker: ParseInt) -> tuple[Template, ...]:
    """Return the steps from text to 64 bits; NULL for what does not fit."""

    def whole(value: Node) -> Node:
        # Nineteen digits may be too many; a wider type can tell, on every dialect.
        in_range = exp.Between(
            this=try_cast(value, _WIDE),
            low=cast(text(str(-(2**63))), _WIDE),
            high=cast(text(str(2**63 - 1)), _WIDE),
        )
        return case(
            (matches(value, r"^[+-]?0*[0-9]{1,18}$"), try_cast(value, "bigint")),
            (
                matches(value, r"^[+-]?0*[0-9]{19}$"),
                case((in_range, try_cast(value, "bigint"))),
            ),
        )

    return (stripped, *_ungrouped(marker.thousands, None), whole)


def parse_numeric_templates(marker: ParseNumeric, kind: DataType) -> tuple[Template, ...]:
    """Return the steps from text to an exact decimal; NULL for what does not fit."""
    scale = scale_for(kind)
    point = re.escape(marker.decimal)
    digits = _DIGITS - scale
    # Zeros at both ends are no digits.
    whole = f"(?:0+|0*[0-9]{{1,{digits}}})" if digits else "0+"
    decimals = f"[0-9]{{0,{scale}}}0*" if scale else "0*"
    only = f"[0-9]{{1,{scale}}}0*" if scale else "0+"
    pattern = f"^[+-]?(?:{whole}(?:{point}{decimals})?|{point}{only})$"

    def exact(value: Node) -> Node:
        plain = value if marker.decimal == "." else replaced(value, marker.decimal, ".")
        return case((matches(value, pattern), try_cast(plain, f"decimal({_DIGITS}, {scale})")))

    return (stripped, *_ungrouped(marker.thousands, point), exact)


def scale_for(kind: DataType) -> int:
    """Return how many decimals are kept: all that fit beside the whole digits the column needs."""
    match kind:
        case Numeric(precision, scale):
            return max(scale, min(_USUAL_SCALE, _DIGITS - (precision - scale)))
        case _:
            return _USUAL_SCALE


def round_templates(marker: Round) -> tuple[Template, ...]:
    """Return the one step of rounding."""
    digits = number(marker.digits)
    if marker.half == "even":
        return (lambda value: call("BROUND", value, digits),)
    return (lambda value: exp.Round(this=value, decimals=digits),)


def clamp_templates(marker: Clamp) -> tuple[Template, ...]:
    """Return one comparison for each bound: NULL is neither above nor below."""

    def bounded(value: Node) -> Node:
        branches: list[tuple[Node, Node]] = []
        if marker.min is not None:
            least = literal(marker.min)
            branches.append((exp.LT(this=value, expression=least), least))
        if marker.max is not None:
            most = literal(marker.max)
            branches.append((exp.GT(this=value, expression=most), most))
        return case(*branches, otherwise=value)

    return (bounded,)


def _ungrouped(thousands: str | None, point: str | None) -> tuple[Template, ...]:
    """Remove separators, only where every group has its three digits."""
    if thousands is None:
        return ()
    rest = f"({point}[0-9]*)?" if point else ""
    pattern = f"^[+-]?[0-9]{{1,3}}({re.escape(thousands)}[0-9]{{3}})+{rest}$"
    return (
        lambda value: case(
            (matches(value, pattern), replaced(value, thousands, "")), otherwise=value
        ),
    )
