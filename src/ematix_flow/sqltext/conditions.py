"""SQL conditions of the user's, as they are declared: in Spark's SQL."""

from __future__ import annotations

from sqlglot import exp, parse_one


def columns_in(condition: str) -> tuple[str, ...]:
    """Return the columns that *condition* names, each once."""
    parsed = parse_one(condition, dialect="spark")  # as it was checked when it was declared
    return tuple(dict.fromkeys(each.name for each in parsed.find_all(exp.Column)))
