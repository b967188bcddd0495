"""Small words for building expressions: each takes and returns nodes, none takes SQL text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from decimal import Decimal

from sqlglot import exp

from ematix_flow.spec.normalize.text import WHITESPACE

Node = exp.Expr
Template = Callable[[Node], Node]


def text(value: str) -> Node:
    """Return a literal text."""
    return exp.Literal.string(value)


def number(value: int) -> Node:
    """Return a literal whole number."""
    return exp.Literal.number(value)


def concat(*parts: Node) -> Node:
    """Join texts; NULL if one of them is."""
    return exp.Concat(expressions=list(parts), safe=False, coalesce=False)


def cast(value: Node, kind: str) -> Node:
    """Convert, where it cannot fail."""
    return exp.Cast(this=value, to=exp.DataType.build(kind))


def try_cast(value: Node, kind: str) -> Node:
    """Convert; NULL where it fails, on dialects that know how."""
    return exp.TryCast(this=value, to=exp.DataType.build(kind), safe=True)


def case(*branches: tuple[Node, Node], otherwise: Node | None = None) -> Node:
    """Return the value of the first branch whose condition holds."""
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Case(ifs=ifs, default=otherwise)


def matches(value: Node, pattern: str) -> Node:
    """Tell whether a part of *value* matches; patterns bring their own anchors."""
    return exp.RegexpLike(this=value, expression=text(pattern))


def removed(value: Node, pattern: str) -> Node:
    """Remove all matches of *pattern*."""
    return exp.RegexpReplace(this=value, expression=text(pattern), replacement=text(""))


def replaced(value: Node, old: str, new: str) -> Node:
    """Replace literal text."""
    return exp.func("REPLACE", value, text(old), text(new))


def substring(value: Node, start: int, length: int | None = None) -> Node:
    """Return characters from *start*, counted from 1."""
    return exp.Substring(
        this=value, start=number(start), length=None if length is None else number(length)
    )


def is_in(value: Node, options: Iterable[Node]) -> Node:
    """Tell whether *value* equals one of *options*."""
    return exp.In(this=value, expressions=list(options))


def is_null(value: Node) -> Node:
    """Tell whether *value* is NULL."""
    return exp.Is(this=value, expression=exp.Null())


def is_not_null(value: Node) -> Node:
    """Tell whether *value* is not NULL."""
    return exp.Not(this=is_null(value))


def call(name: str, *arguments: Node) -> Node:
    """Call a function of Spark that sqlglot has no node for."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def stripped(value: Node) -> Node:
    """Remove white space at both ends."""
    return exp.Trim(this=value, expression=text(WHITESPACE), position="BOTH")


def literal(value: object) -> Node:
    """Return a Python value as a typed literal."""
    match value:
        case bool():
            return exp.Boolean(this=value)
        case str():
            return text(value)
        case int():
            return number(value)
        case float():
            return cast(text(repr(value)), "double")
        case Decimal():
            return _decimal(value)
        case datetime() if value.tzinfo is None:
            return cast(text(value.isoformat(" ")), "timestampntz")
        case datetime():
            return cast(text(value.astimezone(UTC).isoformat(" ")), "timestamptz")
        case date():
            return cast(text(value.isoformat()), "date")
        case _:
            raise AssertionError(value)


def _decimal(value: Decimal) -> Node:
    """Return a decimal of no more digits than it has: wider ones make other decimals lose some."""
    plain = f"{value:f}"
    digits = plain.lstrip("-").replace(".", "").lstrip("0")
    scale = len(plain.partition(".")[2])
    return cast(text(plain), f"decimal({max(len(digits), scale, 1)}, {scale})")
