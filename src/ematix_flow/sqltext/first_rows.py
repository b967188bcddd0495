"""The first rows of a query that stays as its author wrote it."""

from __future__ import annotations

_ALIAS = "flow_preview"


def first_rows(query: str, rows: int) -> str:
    """Return the query for no more than *rows* of what *query* returns."""
    # A line of its own, because the query may end in a comment.
    return f"SELECT * FROM (\n{query}\n) AS {_ALIAS} LIMIT {rows}"  # noqa: S608  # the user's own
