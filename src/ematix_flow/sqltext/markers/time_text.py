"""Text of a format brought into the one form that every engine reads alike."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.spec.normalize.time_format import DIRECTIVES, MONTHS, TimeFormat, spellings
from ematix_flow.sqltext.markers.nodes import (
    Node,
    case,
    cast,
    concat,
    is_in,
    matches,
    number,
    substring,
    text,
    try_cast,
)

# POSIX: two digits are of this century up to here.
_LAST_OF_CENTURY = "68"


def day_of(value: Node, format_: TimeFormat) -> Node:
    """Return `2026-03-01` of text of *format_*; NULL for other text."""
    return case((matches(value, format_.pattern), _day(value, format_)))


def moment_of(value: Node, format_: TimeFormat, suffix: str) -> Node:
    """Return `2026-03-01 08:00:00.000000` and the offset, or *suffix* where it has none."""
    time = (
        *(text(" "), _hour(value, format_), text(":"), _two_digits(value, format_, "M")),
        *(text(":"), _two_digits(value, format_, "S"), text("."), _fraction(value, format_)),
    )
    offset = _offset(_field(value, format_, "z")) if format_.has("z") else text(suffix)
    return case(
        (matches(value, format_.pattern), concat(_day(value, format_), *time, offset)),
    )


def _field(value: Node, format_: TimeFormat, *names: str) -> Node:
    """Return what one of the directives *names* reads."""
    position: int | None = 0
    group = 0
    for number_, (piece, directive) in enumerate(format_.pieces):
        width = DIRECTIVES[piece][1] if directive else len(piece)
        group += directive
        if directive and piece in names:
            # Cutting is quicker than matching, but needs to know where.
            if position is not None and width is not None:
                return substring(value, position + 1, width)
            if position is not None and number_ == len(format_.pieces) - 1:
                return substring(value, position + 1)
            return exp.RegexpExtract(
                this=value, expression=text(format_.pattern), group=number(group)
            )
        position = position + width if position is not None and width is not None else None
    raise AssertionError(names)


def _day(value: Node, format_: TimeFormat) -> Node:
    dash = text("-")
    return concat(
        _year(value, format_),
        dash,
        _month(value, format_),
        dash.copy(),
        _two_digits(value, format_, "d"),
    )


def _year(value: Node, format_: TimeFormat) -> Node:
    year = _field(value, format_, "Y", "y")
    if format_.has("Y"):
        return year
    of_this_century = exp.LTE(this=year, expression=text(_LAST_OF_CENTURY))
    return concat(case((of_this_century, text("20")), otherwise=text("19")), year)


def _month(value: Node, format_: TimeFormat) -> Node:
    if not format_.has("b", "B"):
        return _two_digits(value, format_, "m")
    name = substring(_field(value, format_, "b", "B"), 1, 3)
    return case(
        *(
            (is_in(name, [text(each) for each in spellings(month[:3])]), text(f"{which:02}"))
            for which, month in enumerate(MONTHS, start=1)
        )
    )


def _hour(value: Node, format_: TimeFormat) -> Node:
    if not format_.has("I", "-I"):
        return _two_digits(value, format_, "H")
    of_half = exp.Mod(
        this=try_cast(_field(value, format_, "I", "-I"), "int"), expression=number(12)
    )
    is_after_noon = is_in(_field(value, format_, "p"), [text("PM"), text("pm")])
    half = case((is_after_noon, number(12)), otherwise=number(0))
    return _padded(cast(exp.Add(this=of_half, expression=half), "text"))


def _two_digits(value: Node, format_: TimeFormat, directive: str) -> Node:
    if format_.has(directive):
        return _field(value, format_, directive)
    if format_.has(f"-{directive}"):
        return _padded(_field(value, format_, f"-{directive}"))
    return text("00")


def _padded(value: Node) -> Node:
    return exp.func("LPAD", value, number(2), text("0"))


def _fraction(value: Node, format_: TimeFormat) -> Node:
    if not format_.has("f"):
        return text("000000")
    return exp.func("RPAD", _field(value, format_, "f"), number(6), text("0"))


def _offset(read: Node) -> Node:
    """Return `+01:00` of `Z`, `+0100` or `+01:00`."""
    return case(
        (exp.EQ(this=read, expression=text("Z")), text("+00:00")),
        otherwise=concat(substring(read, 1, 3), text(":"), substring(_last_two(read), 1, 2)),
    )


def _last_two(read: Node) -> Node:
    has_colon = exp.EQ(this=exp.Length(this=read), expression=number(6))
    return case((has_colon, substring(read, 5, 2)), otherwise=substring(read, 4, 2))
