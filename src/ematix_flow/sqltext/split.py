"""Several statements in one text, each as its author wrote it."""

from __future__ import annotations

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError

from ematix_flow.sqltext.dialect_names import grammar_of


def statements_in(text: str, dialect: str) -> tuple[str, ...]:
    """Return the statements of *text*: split at semicolons that are not inside of a string."""
    try:
        tokens = Dialect.get_or_raise(grammar_of(dialect)).tokenize(text)
    except TokenError:
        return (text,)  # the database says what is wrong with it
    ends = [token.start for token in tokens if token.token_type.name == "SEMICOLON"]
    starts = [0, *(end + 1 for end in ends)]
    parts = (text[start:end].strip() for start, end in zip(starts, [*ends, len(text)], strict=True))
    return tuple(part for part in parts if part)
