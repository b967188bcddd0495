"""What a day did to the demo shop's history and sums: two readings of the warehouse, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ematix_flow.api import Flow

_HISTORY = """
    SELECT name, city, valid_from, valid_to, is_current
    FROM customer_history ORDER BY customer_id, valid_from
"""
_REVENUE = "SELECT day, category, orders, revenue FROM daily_revenue ORDER BY day, category"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of a customer, and what the day did to it."""

    name: str
    city: str | None
    valid_from: datetime
    valid_to: datetime | None
    is_current: bool
    change: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the version for programs."""
        return {
            "name": self.name,
            "city": self.city,
            "valid_from": str(self.valid_from),
            "valid_to": self.valid_to and str(self.valid_to),
            "is_current": self.is_current,
            "change": self.change,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """The revenue of a day and category, before and after; None where it is new."""

    day: str
    category: str
    orders: tuple[int | None, int]
    revenue: tuple[str | None, str]

    def to_json(self) -> dict[str, object]:
        """Return the sum for programs."""
        return {
            "day": self.day,
            "category": self.category,
            "orders": list(self.orders),
            "revenue": list(self.revenue),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Warehouse:
    """What the warehouse held at one time."""

    history: tuple[dict[str, Any], ...]
    revenue: tuple[dict[str, Any], ...]

    @classmethod
    def read(cls, flow: Flow) -> Warehouse:
        """Ask DuckDB, without Spark."""
        history, revenue = (
            tuple(flow.read_frame("warehouse", query, "pyarrow").to_pylist())
            for query in (_HISTORY, _REVENUE)
        )
        return cls(history=history, revenue=revenue)


def changed_history(before: Warehouse, after: Warehouse) -> list[Version]:
    """Return all versions of the customers whose history changed."""
    known = {(row["name"], row["valid_from"]): row for row in before.history}
    newest = max(row["valid_from"] for row in before.history)
    versions = [Version(**row, change=_change(row, known, newest)) for row in after.history]
    touched = {version.name for version in versions if version.change}
    return [version for version in versions if version.name in touched]


def _change(row: dict[str, Any], known: dict[Any, dict[str, Any]], newest: datetime) -> str:
    old = known.get((row["name"], row["valid_from"]))
    if old is None:
        return "opened" if row["valid_from"] > newest else "late, spliced in"
    if old["valid_to"] == row["valid_to"]:
        return ""
    return "closed" if old["valid_to"] is None else "ends earlier"


def changed_sums(before: Warehouse, after: Warehouse) -> list[Sum]:
    """Return the sums that the day changed or added."""
    known = {(row["day"], row["category"]): row for row in before.revenue}
    return [
        _sum(row, known.get((row["day"], row["category"])))
        for row in after.revenue
        if row not in before.revenue
    ]


def _sum(row: dict[str, Any], old: dict[str, Any] | None) -> Sum:
    return Sum(
        day=str(row["day"]),
        category=row["category"],
        orders=(old["orders"] if old else None, row["orders"]),
        revenue=(str(old["revenue"]) if old else None, str(row["revenue"])),
    )


def history_rows(versions: Sequence[Version]) -> list[list[str]]:
    """Return the versions as cells of a table."""
    return [
        [
            each.name,
            each.city or "",
            f"{each.valid_from:%Y-%m-%d %H:%M}",
            f"{each.valid_to:%Y-%m-%d %H:%M}" if each.valid_to else "",
            each.change,
        ]
        for each in versions
    ]


def sum_rows(sums: Sequence[Sum]) -> list[list[str]]:
    """Return the sums as cells of a table."""
    return [
        [each.day, each.category, *(str(cell or "") for cell in (*each.orders, *each.revenue))]
        for each in sums
    ]
