"""A part of a query that cannot be said exactly in the other dialect, and how it is reported."""

from __future__ import annotations

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.errors import QueryError

_LONGEST = 120


class DialectError(QueryError):
    """A part of the query has no exact equivalent where it will run."""

    @classmethod
    def about(
        cls, fragment: str, why: str, rewrite: str, *, write: str, where: Location | str
    ) -> DialectError:
        """Show the fragment, why it has no equivalent, and what to write instead."""
        return cls(
            f"`{fragment}` cannot be translated to {write}: {why}", where=where, hint=rewrite
        )


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
