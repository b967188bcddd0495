"""Whether a column's markers fit together, its type, and what the query may return for it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ematix_flow.spec.normalize.expression import Derive
from ematix_flow.spec.normalize.family import (
    EVERY,
    INSTANT,
    TEXT,
    WALL_CLOCK,
    Family,
    family_of,
    listed,
)
from ematix_flow.spec.normalize.marker import Fallible, Marker
from ematix_flow.spec.normalize.number import Clamp
from ematix_flow.spec.normalize.time import ToTimezone
from ematix_flow.spec.normalize.value import Default, NullIf
from ematix_flow.spec.types import (
    BigInt,
    DataType,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    String,
)

Markers = tuple[Marker, ...]
_BITS: dict[type[DataType], int] = {SmallInt: 16, Integer: 32, BigInt: 64}


class ChainError(ValueError):
    """Markers that do not fit; `hint` is one thing to do about it."""

    def __init__(self, what: str, hint: str | None = None) -> None:
        super().__init__(what)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Chain:
    """A column's markers in order, with the families that reach each of them."""

    markers: Markers
    reaching: tuple[frozenset[Family], ...]

    @property
    def accepts(self) -> frozenset[Family]:
        """What the query may return for the column."""
        return self.reaching[0] if self.reaching else EVERY


def chain(markers: Markers, kind: DataType) -> Chain:
    """Walk the markers of a column of type *kind*; ChainError where one does not fit."""
    for marker in markers[1:]:
        if isinstance(marker, Derive):
            raise ChainError(f"{marker} is not the first marker, so what comes before it is lost")
    state, reaching = _start(markers, kind), []
    for number, marker in enumerate(markers):
        fitting = state & marker.takes
        if not fitting:
            raise _misfit(markers, number, state, kind)
        _check_values(marker, kind if number == len(markers) - 1 else None)
        reaching.append(fitting)
        state = marker.gives(fitting)
    declared = family_of(kind)
    if markers and declared not in state:
        raise ChainError(
            f"{markers[-1]} leaves {listed(state)}, but the column is declared {kind}",
            _remedy(declared, state),
        )
    return Chain(markers, tuple(reaching))


def _start(markers: Markers, kind: DataType) -> frozenset[Family]:
    first = next((marker for marker in markers if marker.converts), None)
    match first:
        case None:
            return frozenset({family_of(kind)})
        case ToTimezone():
            return INSTANT | WALL_CLOCK
        case Fallible():
            return TEXT
        case _:
            return EVERY


def _misfit(markers: Markers, number: int, state: frozenset[Family], kind: DataType) -> ChainError:
    marker = markers[number]
    given = f"{kind} is" if number == 0 else f"after {markers[number - 1]} it is"
    hint = None
    if number == 0 and state == frozenset({family_of(kind)}) and marker.takes == TEXT:
        parser = PARSERS.get(family_of(kind))
        hint = f"add {parser} after it, if the query returns text" if parser else None
    return ChainError(f"{marker} takes {listed(marker.takes)}, but {given} {listed(state)}", hint)


PARSERS = {
    Family.NUMBER: "parse_int() or parse_numeric()",
    Family.BOOLEAN: "parse_bool()",
    Family.DATE: "parse_date(...)",
    Family.WALL_CLOCK: "parse_timestamp(...)",
    Family.INSTANT: 'parse_timestamp(..., zone="UTC")',
}


def _remedy(declared: Family, state: frozenset[Family]) -> str | None:
    if declared is Family.INSTANT and state == WALL_CLOCK:
        return 'say whose clock it is: parse_timestamp(..., zone="UTC"); or declare Timestamp'
    if declared is Family.WALL_CLOCK and state == INSTANT:
        return 'declare TimestampTZ, or add to_timezone("UTC")'
    return None


def _check_values(marker: Marker, kind: DataType | None) -> None:
    """Refuse a value that the declared type cannot keep, where the marker is the last one."""
    match marker:
        case Default(value):
            values: tuple[object, ...] = (value,)
        case NullIf(found):
            values = found
        case Clamp(least, most):
            values = (least, most)
        case Fallible(default=value):
            values = (value,)
        case _:
            return
    for value in values:
        problem = _problem(value, kind) if value is not None else None
        if problem:
            raise ChainError(f"{marker}: {problem}")


def _problem(value: object, kind: DataType | None) -> str | None:
    match value, kind:
        case float(), Float() | Double() | None:
            return None
        case float(), _:
            return f"{value!r} is a float, which is not exact; write Decimal({str(value)!r})"
        case Decimal(), _ if not value.is_finite():
            return f"{value!r} is not a number"
        case str(), String(length) if len(value) > length:
            return f"{value!r} is longer than {kind}"
        case (int(), (SmallInt() | Integer() | BigInt())) if not isinstance(value, bool):
            limit = 2 ** (_BITS[type(kind)] - 1)
            return None if -limit <= value < limit else f"{value!r} does not fit {kind}"
        case ((int() | Decimal()), Numeric()) if not isinstance(value, bool):
            return None if _fits(Decimal(value), kind) else f"{value!r} does not fit {kind}"
        case _:
            return None


def _fits(value: Decimal, kind: Numeric) -> bool:
    scaled = value.scaleb(kind.scale)
    return scaled == scaled.to_integral_value() and abs(scaled) < 10**kind.precision
