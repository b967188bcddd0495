"""Whether two engines gave the same rows: decimals exactly, doubles to 1e-9, NaN equal to NaN."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any


def same_rows(left: Sequence[Any], right: Sequence[Any], *, ordered: bool) -> bool:
    """Compare two results; where nothing orders them, as multisets."""
    ours, theirs = ([_plain(row) for row in rows] for rows in (left, right))
    if len(ours) != len(theirs):
        return False
    if not ordered:
        ours, theirs = sorted(ours, key=_order), sorted(theirs, key=_order)
    return all(map(_same, ours, theirs))


def _same(left: Any, right: Any) -> bool:
    match left, right:
        case (list(), list()):
            return len(left) == len(right) and all(map(_same, left, right))
        case (dict(), dict()):
            return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
        case (float(), int() | float() | Decimal()) | (int() | Decimal(), float()):
            if isinstance(left, bool) or isinstance(right, bool):
                return False
            if math.isnan(left) or math.isnan(right):
                return math.isnan(left) and math.isnan(right)
            return left == right or math.isclose(left, right, rel_tol=1e-9)
        case (bool(), _) | (_, bool()):
            return left is right
        case _:
            return bool(left == right)


def _plain(value: Any) -> Any:
    if hasattr(value, "asDict"):  # a struct of Spark's, which is a tuple too
        return {key: _plain(each) for key, each in value.asDict().items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if hasattr(value, "to_pytimedelta"):  # pandas, by way of Arrow's nanoseconds
        return value.to_pytimedelta()
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime()
    if isinstance(value, datetime) and value.tzinfo is not None:
        # Sessions are in UTC, so an instant and its local time read alike.
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def _order(row: Any) -> str:
    return repr([_shown(value) for value in row])


def _shown(value: Any) -> str:
    if isinstance(value, bool | datetime | timedelta | str) or value is None:
        return str(value)
    if isinstance(value, int | float | Decimal):
        return f"{float(value):.9g}"
    return repr(value)
