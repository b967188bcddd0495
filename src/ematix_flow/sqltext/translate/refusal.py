"""A part of a query that cannot be said exactly in the other dialect, and how it is reported."""

from __future__ import annotations

from sqlglot import exp

_LONGEST = 120


class Refusal(Exception):
    """Raised by a rule that meets what it cannot say; it becomes a DialectError."""

    def __init__(self, why: str, rewrite: str) -> None:
        self.why, self.rewrite = why, rewrite
        super().__init__(why)


def fragment(node: exp.Expr, text: str | None, dialect: str) -> str:
    """Return *node* as the user wrote it; regenerated where its place in *text* is not known."""
    start = node.meta.get("start")
    if text is not None and start is not None and isinstance(node, exp.Func):
        found = _call(text, start)
    else:
        found = node.sql(dialect=dialect, comments=False)
    words = " ".join(found.split())
    return words if len(words) <= _LONGEST else words[:_LONGEST] + " ..."


def _call(text: str, start: int) -> str:
    """Cut a function call out of *text*: from its name to the bracket that closes it."""
    depth, quote = 0, ""
    for position in range(start, len(text)):
        char = text[position]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth <= 0:
                return text[start : position + 1]
    return text[start:]
