"""Parameters of a statement: ours are `?`, the driver's are `%s`."""

from __future__ import annotations

import sqlglot
from sqlglot import TokenType


def as_percent_s(sql: str) -> str:
    """Return *sql* with its parameters as `%s`; text, names and comments stay.

    >>> as_percent_s("SELECT `a?` FROM t WHERE b = ? AND c LIKE '5%?'")
    "SELECT `a?` FROM t WHERE b = %s AND c LIKE '5%%?'"
    """
    parts: list[str] = []
    start = 0
    for token in sqlglot.tokenize(sql, dialect="mysql"):
        if token.token_type is TokenType.PLACEHOLDER:
            # The driver replaces each %, wherever it stands.
            parts += [sql[start : token.start].replace("%", "%%"), "%s"]
            start = token.end + 1
    return "".join(parts) + sql[start:].replace("%", "%%")
