"""Are two answers to a query the same?

Row by row, in the order the query asks for; where it leaves the order open, in any. Decimals,
integers, texts and dates are equal or not; what DuckDB answers as DOUBLE is one here too, and
may differ in its last digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import sqlglot
from sqlglot import exp

# Sums in another order round otherwise; a decimal made of a double would be further off.
RELATIVE, ABSOLUTE = 1e-12, 1e-12

Row = tuple[Any, ...]


def expected_rows(answer: dict[str, Any]) -> list[Row]:
    """DuckDB's rows, out of JSON with the types they had."""
    return [
        tuple(_typed(value, kind) for value, kind in zip(row, answer["types"], strict=True))
        for row in answer["rows"]
    ]


def _typed(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "DATE":
        return date.fromisoformat(value)
    return Decimal(value) if kind.startswith("DECIMAL") else value


def order_columns(query: str, names: Sequence[str]) -> list[int]:
    """Which output columns the query sorts by, as far as it sorts by output columns."""
    order = sqlglot.parse_one(query, dialect="duckdb").args.get("order")
    keys = (each.this for each in order.expressions) if order else ()
    found = []
    for key in keys:
        if isinstance(key, exp.Literal) and key.is_int:
            found.append(int(key.name) - 1)
        elif isinstance(key, exp.Column) and key.name in names:
            found.append(list(names).index(key.name))
        else:
            break  # what comes after it only breaks its ties
    return found


def difference(actual: Sequence[Row], expected: Sequence[Row], order: Sequence[int]) -> str:
    """Say what differs first; empty where nothing does."""
    if len(actual) != len(expected):
        return f"{len(actual)} rows for {len(expected)}"
    if {len(row) for row in actual} != {len(row) for row in expected}:
        return f"columns: {actual[0]} for {expected[0]}"
    for position in range(len(expected)):
        keys = [tuple(rows[position][at] for at in order) for rows in (actual, expected)]
        if not _same_rows(*keys):
            return f"row {position} is sorted by {keys[0]} for {keys[1]}"
    floats = {at for row in expected for at, value in enumerate(row) if isinstance(value, float)}
    by_value = zip(_sorted(actual, floats), _sorted(expected, floats), strict=True)
    for ours, theirs in by_value:
        if not _same_rows(ours, theirs):
            return f"{ours} for {theirs}"
    return ""


def _sorted(rows: Sequence[Row], floats: set[int]) -> list[Row]:
    """Sort rows by their exact values, and by what may be rounded only where those are equal."""
    exact = [at for at in range(len(rows[0]) if rows else 0) if at not in floats]
    return sorted(rows, key=lambda row: [_rank(row[at]) for at in (*exact, *sorted(floats))])


def _rank(value: Any) -> tuple[bool, Any]:
    return (value is None, 0 if value is None else value)


def _same_rows(ours: Row, theirs: Row) -> bool:
    return len(ours) == len(theirs) and all(map(_same, ours, theirs))


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) != isinstance(theirs, float):
        return False  # a decimal that became floating point is a loss, whatever it shows
    if isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return bool(ours == theirs)
