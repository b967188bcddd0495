"""Text markers as expressions."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow.spec.normalize.phone import PhoneNormalize
from ematix_flow.spec.normalize.text import (
    WHITESPACE,
    EmailNormalize,
    EmptyToNull,
    Lower,
    RegexReplace,
    Replace,
    TextMarker,
    Trim,
    Truncate,
    Upper,
    WhitespaceToNull,
)
from ematix_flow.sqltext.markers.nodes import (
    Node,
    Template,
    case,
    concat,
    matches,
    removed,
    replaced,
    stripped,
    substring,
    text,
)

_EMPTY = ""
# A local part that is more than dots before its first +.
_GMAIL = r"^[.]*[^.+@][^@]*@(gmail|googlemail)[.]com$"
# Beside white space: what people put between the digits of a telephone number.
_BETWEEN_DIGITS = r"\-./()" + "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"


def text_templates(marker: TextMarker) -> tuple[Template, ...]:
    """Return the steps of a text marker."""
    match marker:
        case Trim():
            return (stripped,)
        case Lower():
            return (_lower,)
        case Upper():
            return (lambda value: exp.Upper(this=value),)
        case EmptyToNull():
            return (lambda value: exp.Nullif(this=value, expression=text(_EMPTY)),)
        case WhitespaceToNull():
            return (
                lambda value: case(
                    (exp.EQ(this=stripped(value), expression=text(_EMPTY)), exp.Null()),
                    otherwise=value,
                ),
            )
        case Replace(old, new):
            return (lambda value: replaced(value, old, new),)
        case RegexReplace(pattern, replacement):
            return (
                lambda value: exp.RegexpReplace(
                    this=value, expression=text(pattern), replacement=text(replacement)
                ),
            )
        case Truncate(length):
            return (lambda value: substring(value, 1, length),)
        case EmailNormalize(gmail):
            return (stripped, _lower, *((_one_mailbox,) if gmail else ()))
        case _:
            raise AssertionError(marker)


def phone_templates(marker: PhoneNormalize) -> tuple[Template, ...]:
    """Return the steps to `+` and digits; NULL where they do not lead there."""
    dialling = marker.dialling
    international = dialling.international if dialling else "00"

    def without_zero(value: Node) -> Node:
        # As in +49 (0)30 ...: the zero is for callers at home.
        abroad = exp.or_(_begins(value, "+"), _begins(value, international))
        return case((abroad, replaced(value, "(0)", "")), otherwise=value)

    def from_abroad(value: Node) -> Node:
        branches: list[tuple[Node, Node]] = [
            (_begins(value, "+"), value),
            (_begins(value, international), _with(value, international, "+")),
        ]
        if dialling is None:
            return case(*branches, otherwise=value)
        if dialling.trunk:
            national = _with(value, dialling.trunk, f"+{dialling.code}")
            branches.append((_begins(value, dialling.trunk), national))
        return case(*branches, otherwise=concat(text(f"+{dialling.code}"), value))

    return (
        stripped,
        without_zero,
        lambda value: removed(value, f"[{WHITESPACE}{_BETWEEN_DIGITS}]"),
        from_abroad,
        lambda value: case((matches(value, r"^\+[1-9][0-9]{6,14}$"), value)),
    )


def _lower(value: Node) -> Node:
    return exp.Lower(this=value)


def _one_mailbox(value: Node) -> Node:
    local = removed(value, r"[+@][\s\S]*$")
    merged = concat(replaced(local, ".", ""), text("@gmail.com"))
    return case((matches(value, _GMAIL), merged), otherwise=value)


def _begins(value: Node, prefix: str) -> Node:
    return exp.EQ(this=substring(value, 1, len(prefix)), expression=text(prefix))


def _with(value: Node, prefix: str, instead: str) -> Node:
    return concat(text(instead), substring(value, len(prefix) + 1))
