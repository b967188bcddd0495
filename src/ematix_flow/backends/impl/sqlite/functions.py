"""What our SQL asks of SQLite that it does not have: a digest of a row, time, exact decimals."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta
from hashlib import md5

from ematix_flow.backends.impl.sqlite.types import canonical_text
from ematix_flow.spec.cursor import WHOLE_DIGITS, WHOLE_SHIFT
from ematix_flow.sqltext.in_database.order import SQLITE_ORDER
from ematix_flow.sqltext.in_database.sqlite_value import SQLITE_LENGTH, SQLITE_STORED
from ematix_flow.sqltext.program.grammar import SQLITE_ADD, SQLITE_DIGEST

_FORMAT = "%Y-%m-%d %H:%M:%S.%f"


def add_functions(database: sqlite3.Connection) -> None:
    """Let the SQL of *database* call them."""
    database.create_function(SQLITE_DIGEST, -1, _digest, deterministic=True)
    database.create_function(SQLITE_ADD, 2, _later, deterministic=True)
    database.create_function(SQLITE_ORDER, 1, _order_text, deterministic=True)
    database.create_function(SQLITE_STORED, -1, canonical_text, deterministic=True)
    database.create_function(SQLITE_LENGTH, 1, _length, deterministic=True)


def _digest(*values: object) -> str:
    # repr() tells 1 from '1' and NULL from 'None', and writes a float with all its digits.
    return md5(repr(values).encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _later(moment: str | None, microseconds: int) -> str | None:
    """Move a time in canonical text, and keep how it is written."""
    if moment is None:
        return None
    zone = "Z" if moment.endswith("Z") else ""
    at = datetime.strptime(moment.removesuffix("Z"), _FORMAT)  # noqa: DTZ007  # only moved
    return (at + timedelta(microseconds=microseconds)).strftime(_FORMAT) + zone


def _order_text(value: int | str | None) -> str | None:
    """Return a whole number or a text as text that sorts like it."""
    match value:
        case int():
            return f"{value + WHOLE_SHIFT:0{WHOLE_DIGITS}}"
        case str():
            return value.encode().hex()
        case _:
            return None


def _length(text: object) -> int | None:
    return len(text) if isinstance(text, str) else None
