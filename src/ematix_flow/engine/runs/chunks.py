"""A part of the past, cut into chunks of the incremental column."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from itertools import pairwise

from ematix_flow.errors import UsageError
from ematix_flow.spec.cursor import Cursor, CursorKind
from ematix_flow.spec.duration import FORM, parse_duration
from ematix_flow.spec.window import Ends, Window

_MOST = 100_000
_DAY = timedelta(days=1)


def chunks(start: str, end: str, chunk: str | None = None) -> tuple[Ends, ...]:
    """Return the windows from *start*, inclusive, to *end*, exclusive, in order.

    :param chunk: How far each of them reaches: a duration for times, a number for numbers.

    >>> chunks("1", "10", "4")[-1]
    ('>= integer 9', '< integer 10')
    """
    first, last = Cursor.read(start), Cursor.read(end)
    if not first.compares_with(last):
        raise UsageError(f"--from {start!r} is {first.kind}, and --to {end!r} is {last.kind}")
    edges = [start, *_between(first, last, chunk), end] if not last.is_at_most(first) else []
    if not edges:
        raise UsageError(
            f"--from {start!r} does not lie before --to {end!r}",
            hint="the range begins with the one and ends before the other",
        )
    return tuple(Window.between("", one, other).ends for one, other in pairwise(edges))


def _between(first: Cursor, last: Cursor, chunk: str | None) -> list[str]:
    if chunk is None:
        return []
    if first.kind.is_time:
        edges = _times(first, last, _duration(chunk))
    elif first.kind.is_number:
        edges = _numbers(first, last, _number(chunk))
    else:
        raise UsageError(
            f"text such as {first.value!r} cannot be cut into chunks",
            hint="leave out --chunk: the range is then loaded as one",
        )
    found = []
    for edge in edges:
        found.append(edge)
        if len(found) >= _MOST:
            raise UsageError(
                f"--chunk {chunk!r} cuts the range into more than {_MOST:,} chunks",
                hint="make the chunks larger",
            )
    return found


def _times(first: Cursor, last: Cursor, step: timedelta) -> Iterator[str]:
    # Days stay days, where the chunks are whole ones.
    days = CursorKind.DATE in (first.kind, last.kind) and step % _DAY == timedelta()
    kind = CursorKind.DATE if days and first.kind is last.kind else _time_kind(first, last)
    end = datetime.fromisoformat(last.value)
    at = datetime.fromisoformat(first.value) + step
    while at < end:
        shown = at.date().isoformat() if kind is CursorKind.DATE else _shown(at)
        yield str(Cursor(kind, shown))
        at += step


def _time_kind(first: Cursor, last: Cursor) -> CursorKind:
    """Return the kind of the times between the two; days have midnights."""
    kinds = {first.kind, last.kind} - {CursorKind.DATE}
    return next(iter(kinds), CursorKind.TIMESTAMP)


def _numbers(first: Cursor, last: Cursor, step: Decimal) -> Iterator[str]:
    at = Decimal(first.value) + step
    while at < Decimal(last.value):
        whole = at == at.to_integral_value()
        yield str(Cursor(CursorKind.INTEGER if whole else CursorKind.DECIMAL, format(at, "f")))
        at += step


def _duration(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError:
        raise UsageError(f"--chunk of times takes {FORM}, not {text!r}") from None


def _number(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(0)
    if not value.is_finite() or value <= 0:
        raise UsageError(f"--chunk of numbers takes a number above zero, not {text!r}")
    return value


def _shown(at: datetime) -> str:
    return at.isoformat(sep=" ", timespec="microseconds")
