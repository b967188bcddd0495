"""The comparison itself: it must see what differs, and no more."""

from datetime import date
from decimal import Decimal

import pytest

from tests.tpc.answers import difference, expected_rows, order_columns

ROWS = [("a", Decimal("1.10"), 0.1), ("b", Decimal("2.00"), None), (None, None, 0.3)]


@pytest.mark.parametrize(
    ("rows", "order"),
    [
        (ROWS, [0]),
        (ROWS[::-1], []),
        ([("a", Decimal("1.100"), 0.1 + 1e-15), *ROWS[1:]], [0]),
    ],
)
def test_the_same(rows, order):
    assert difference(rows, ROWS, order) == ""


@pytest.mark.parametrize(
    ("rows", "order", "said"),
    [
        (ROWS[:2], [], "2 rows for 3"),
        (ROWS[::-1], [0], "row 0 is sorted by (None,) for ('a',)"),
        ([("a", Decimal("1.11"), 0.1), *ROWS[1:]], [0], "1.11"),
        ([("a", 1.1, 0.1), *ROWS[1:]], [0], "1.1, 0.1"),
        ([("a", Decimal("1.10"), 0.1001), *ROWS[1:]], [0], "0.1001"),
        ([("a", Decimal("1.10"), Decimal("0.1")), *ROWS[1:]], [0], "Decimal('0.1')"),
        ([("a", Decimal("1.10"), None), *ROWS[1:]], [0], "None"),
        ([("a", Decimal("1.10")), *ROWS[1:]], [0], "for ('a'"),
    ],
)
def test_not_the_same(rows, order, said):
    assert said in difference(rows, ROWS, order)


def test_types_come_back_from_json():
    answer = {
        "types": ["VARCHAR", "DECIMAL(38,2)", "DATE", "DOUBLE", "BIGINT"],
        "rows": [["1.10", "1.10", "2026-01-02", 0.5, 3], [None] * 5],
    }
    assert expected_rows(answer) == [
        ("1.10", Decimal("1.10"), date(2026, 1, 2), 0.5, 3),
        (None,) * 5,
    ]


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("SELECT a, b FROM t ORDER BY b DESC, 1", [1, 0]),
        ("SELECT a, b FROM t ORDER BY b + 1, a", []),
        ("SELECT a, b FROM t ORDER BY t.a, c", [0]),
        ("SELECT a, b FROM t", []),
    ],
)
def test_what_a_query_sorts_by(query, order):
    assert order_columns(query, ["a", "b"]) == order
