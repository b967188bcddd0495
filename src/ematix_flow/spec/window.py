"""Which part of an incremental source a run reads.

A run reads above what the last one committed, strictly (`> integer 42`). A part of the past that
is loaded again begins with its first value and ends before its last: `>= date 2026-01-01` and
`< date 2026-02-01`, so that parts that follow each other meet without a gap and without a row in
both. A run that is repeated reads up to where it had come: `<= integer 99`.

A bound without an operator is what a person writes (`2026-01-01`: from it, or before it) or a
watermark (`integer:10000000000000000042`: above it, or up to it).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ematix_flow.spec.cursor import Cursor, is_watermark

Ends = tuple[str | None, str | None]
"""Where a window begins and ends, as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sides:
    """The operators of one end of a window, and which of them a bare value means."""

    included: str
    excluded: str
    written: str
    of_watermark: str


_LOWER = _Sides(included=">=", excluded=">", written=">=", of_watermark=">")
_UPPER = _Sides(included="<=", excluded="<", written="<", of_watermark="<=")


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a window: an operator of SQL and the value to the right of it."""

    operator: str
    cursor: Cursor

    def __str__(self) -> str:
        return f"{self.operator} {self.cursor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which values of the incremental *column* are read.

    :param start: `> integer 42` or `>= date 2026-01-01`; None begins with the first row.
    :param end: `<= integer 99` or `< date 2026-02-01`; None ends with the last row.
    :param lookback: How far below *start* rows are read again.
    """

    column: str
    start: str | None = None
    end: str | None = None
    lookback: timedelta | int | None = None

    def __str__(self) -> str:
        kept = " and ".join(f"{self.column} {bound}" for bound in self.bounds)
        return kept or f"all rows: {self.column} has no watermark yet"

    @classmethod
    def above(
        cls, column: str, watermark: str | None, lookback: timedelta | int | None = None
    ) -> Window:
        """Return what the next run reads after one that came to *watermark*."""
        start = f"> {Cursor.read(watermark)}" if watermark is not None else None
        return cls(column=column, start=start, lookback=lookback)

    @classmethod
    def between(cls, column: str, first: str | None, before: str | None) -> Window:
        """Return the part from *first*, inclusive, to *before*, exclusive, as a person writes."""
        return cls(
            column=column,
            start=f">= {Cursor.read(first)}" if first is not None else None,
            end=f"< {Cursor.read(before)}" if before is not None else None,
        )

    def up_to(self, watermark: str) -> Window:
        """Return the same window, ending with *watermark*: what a run read that came so far."""
        return Window(
            column=self.column,
            start=self.start,
            end=f"<= {Cursor.read(watermark)}",
            lookback=self.lookback,
        )

    @classmethod
    def of(cls, column: str, ends: Ends) -> Window:
        """Return the window whose `ends` were kept: the same rows again, without a lookback."""
        return cls(column=column, start=ends[0], end=ends[1])

    @property
    def ends(self) -> Ends:
        """Where reading begins, lookback included, and ends, as text that `of` reads."""
        lower = next((str(each) for each in self.bounds if each.operator.startswith(">")), None)
        return lower, self.end

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What every row of the window satisfies; ValueError where the lookback does not fit."""
        lower = [_bound(self.start, _LOWER)] if self.start is not None else []
        if lower and self.lookback is not None:
            lower = [Bound(lower[0].operator, lower[0].cursor.minus(self.lookback))]
        upper = [_bound(self.end, _UPPER)] if self.end is not None else []
        return (*lower, *upper)


def _bound(text: str, sides: _Sides) -> Bound:
    operator, _, value = text.partition(" ")
    if operator in (sides.included, sides.excluded):
        return Bound(operator, Cursor.read(value))
    return Bound(sides.of_watermark if is_watermark(text) else sides.written, Cursor.read(text))
