"""Parameters of a statement: ours are `?` or, as sqlglot spells them here, `%s`."""

from __future__ import annotations

from itertools import pairwise

import sqlglot
from sqlglot import TokenType

# After one of these, a % divides.
_OPERANDS = frozenset(
    {
        *(TokenType.IDENTIFIER, TokenType.VAR, TokenType.NUMBER, TokenType.STRING),
        *(TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.PLACEHOLDER),
    }
)


def numbered(sql: str) -> str:
    """Return *sql* with its parameters as `$1`, `$2` ...; text, names and comments stay.

    >>> numbered('SELECT "a?" FROM t WHERE b = ? AND c = \\'%s\\' AND d = %s AND e %s = 1')
    'SELECT "a?" FROM t WHERE b = $1 AND c = \\'%s\\' AND d = $2 AND e %s = 1'
    """
    parts: list[str] = []
    start = 0
    for first, last in _parameters(sql):
        parts += [sql[start:first], f"${len(parts) // 2 + 1}"]
        start = last + 1
    return "".join(parts) + sql[start:]


def counting(sql: str) -> str:
    """Return a query that runs the INSERT, UPDATE or DELETE *sql* and counts its rows.

    The driver tells no count of a statement that has parameters.
    """
    # A line of its own, because the statement may end in a comment.
    return f"WITH changed AS ({sql}\n RETURNING 1) SELECT count(*) FROM changed"  # noqa: S608


def _parameters(sql: str) -> list[tuple[int, int]]:
    """Return where each parameter begins and ends."""
    tokens = sqlglot.tokenize(sql, dialect="postgres")
    found = [
        (token.start, token.end) for token in tokens if token.token_type is TokenType.PLACEHOLDER
    ]
    before = [None, *(token.token_type for token in tokens)]
    for previous, (sign, letter) in zip(before, pairwise(tokens), strict=False):
        if (
            sign.token_type is TokenType.MOD
            and letter.text == "s"
            and letter.start == sign.end + 1
            and previous not in _OPERANDS
        ):
            found.append((sign.start, letter.end))
    return sorted(found)
