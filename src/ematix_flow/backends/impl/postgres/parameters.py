"""Parameters of a statement: ours are `?` or, as sqlglot spells them here, `%s`."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import TokenType

if TYPE_CHECKING:
    import pyarrow as pa

# After one of these, a % divides.
_OPERANDS = frozenset(
    {
        *(TokenType.IDENTIFIER, TokenType.VAR, TokenType.NUMBER, TokenType.STRING),
        *(TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.PLACEHOLDER),
    }
)


# The same few statements are run again and again.
@lru_cache(maxsize=128)
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


def bound(values: Sequence[object]) -> pa.RecordBatch:
    """Return parameters as the driver takes them: as one row."""
    import pyarrow as pa

    names = [str(number) for number in range(len(values))]
    return pa.record_batch([_column(value) for value in values], names=names)


def counting(sql: str) -> str:
    """Return a query that runs the INSERT, UPDATE or DELETE *sql* and counts its rows.

    The driver tells no count of a statement that has parameters.
    """
    # A line of its own, because the statement may end in a comment.
    return f"WITH changed AS ({sql}\n RETURNING 1) SELECT count(*) FROM changed"  # noqa: S608


def _column(value: object) -> pa.Array:
    """Return a column of one value.

    Arrow imports pandas to take a Python value, a quarter of a second; so the usual ones are
    given to it as bytes.
    """
    import pyarrow as pa

    match value:
        case None:
            return pa.nulls(1)
        case str():
            text = value.encode()
            ends = pa.py_buffer(struct.pack("=2i", 0, len(text)))
            return pa.StringArray.from_buffers(1, ends, pa.py_buffer(text))
        case int() if not isinstance(value, bool) and -(2**63) <= value < 2**63:
            number = pa.py_buffer(struct.pack("=q", value))
            return pa.Array.from_buffers(pa.int64(), 1, [None, number])
        case _:
            return pa.array([value])


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
