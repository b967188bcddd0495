"""Values between SQLite and Arrow.

SQLite knows five storage classes and lets any value into any column. What a column
means is in its declared type; a value that does not mean that is an error, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

from ematix_flow.errors import ContractError, SourceError
from ematix_flow.spec.named_row import first_columns, named_row, naming_columns
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import (
    BigInt,
    Boolean,
    Bytes,
    Date,
    Double,
    Numeric,
    Text,
    Timestamp,
    TimestampTZ,
)
from ematix_flow.sqltext.sqlite_types import meaning_in_sqlite

if TYPE_CHECKING:
    import pyarrow as pa

# What Python would cut from a time without a word.
_BELOW_MICROSECONDS = re.compile(r"[.,]\d{6}\d*[1-9]")


@dataclass(frozen=True, slots=True)
class ReadAs:
    """How a column's stored values become Arrow values of one type."""

    arrow: Any
    convert: Callable[[Any], Any]


def read_as(declared: str, storage: set[str]) -> ReadAs:
    """Choose by the declared type; without one (an expression) by what is stored."""
    import pyarrow as pa

    match meaning_in_sqlite(declared):
        case Numeric(precision, scale):
            return ReadAs(pa.decimal128(precision, scale), _decimal)
        case TimestampTZ():
            return ReadAs(pa.timestamp("us", tz="UTC"), _instant)
        case Timestamp():
            return ReadAs(pa.timestamp("us"), _timestamp)
        case Date():
            return ReadAs(pa.date32(), _date)
        case Boolean():
            return ReadAs(pa.bool_(), _boolean)
        case BigInt():
            return ReadAs(pa.int64(), _integer)
        case Text():
            return ReadAs(pa.string(), _text)
        case Bytes():
            return ReadAs(pa.binary(), _bytes)
        case Double():
            return ReadAs(pa.float64(), _double)
        case _:
            return _by_storage(storage)


def _by_storage(storage: set[str]) -> ReadAs:
    import pyarrow as pa

    match storage - {"null"}:
        case kinds if kinds <= {"integer"} and kinds:
            return ReadAs(pa.int64(), _integer)
        case kinds if kinds <= {"integer", "real"} and kinds:
            return ReadAs(pa.float64(), _double)
        case kinds if kinds <= {"blob"} and kinds:
            return ReadAs(pa.binary(), _bytes)
        case _:
            return ReadAs(pa.string(), _text)


def to_arrow(
    rows: Sequence[tuple[Any, ...]], names: Sequence[str], kinds: Sequence[ReadAs]
) -> list[Any]:
    """Return rows as Arrow columns; a value that is not its column's type is an error."""
    import pyarrow as pa

    arrays = []
    for index, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        values = []
        for row in rows:
            value = row[index]
            try:
                values.append(None if value is None else kind.convert(value))
            except (ValueError, TypeError, ArithmeticError) as error:
                raise _misfit(name, value, kind, names, row) from error
        try:
            arrays.append(pa.array(values, type=kind.arrow))
        except pa.ArrowInvalid as error:
            bad = next(
                row for row, value in zip(rows, values, strict=True) if not _fits(value, kind)
            )
            raise _misfit(name, bad[index], kind, names, bad) from error
    return arrays


def _fits(value: Any, kind: ReadAs) -> bool:
    import pyarrow as pa

    try:
        pa.array([value], type=kind.arrow)
    except pa.ArrowInvalid:
        return False
    return True


def _misfit(
    name: str, value: Any, kind: ReadAs, names: Sequence[str], row: tuple[Any, ...]
) -> SourceError:
    shown = named_row(zip(first_columns(names), row, strict=False))
    return SourceError(
        f"column {name!r} holds {value!r}, which is not {kind.arrow}, its declared type "
        f"(row {shown})",
        hint=f"CAST({name} AS TEXT) in the query to take it as it is",
    )


def _integer(value: Any) -> int:
    if isinstance(value, int):
        return value
    raise ValueError(value)


def _double(value: Any) -> float:
    # Above 2^53 a double skips integers.
    if isinstance(value, float) or (isinstance(value, int) and int(float(value)) == value):
        return float(value)
    raise ValueError(value)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        raise TypeError(value)
    return str(value)


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise TypeError(value)


def _boolean(value: Any) -> bool:
    if value in (0, 1):
        return bool(value)
    raise ValueError(value)


def _decimal(value: Any) -> Decimal:
    # str(): 0.1 stored as a double means 0.1 to whoever wrote it, not 0.1000000000000000055.
    return Decimal(str(value))


def _date(value: Any) -> date:
    return date.fromisoformat(value)


def _timestamp(value: Any) -> datetime:
    parsed = _datetime(value)
    if parsed.tzinfo is not None:
        raise ValueError(value)
    return parsed


def _instant(value: Any) -> datetime:
    parsed = _datetime(value)
    # SQLite's own CURRENT_TIMESTAMP is UTC and does not say so.
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def _datetime(value: Any) -> datetime:
    parsed = datetime.fromisoformat(value)
    if _BELOW_MICROSECONDS.search(value):
        raise ValueError(value)
    return parsed


def to_sqlite(batch: pa.RecordBatch, table: Table) -> list[tuple[Any, ...]]:
    """Return an Arrow batch as rows that SQLite stores without loss.

    Decimals, dates and times become canonical text: SQLite has no exact form of its own.
    """
    keys = naming_columns(table)
    stored = (_stored(batch, column, keys) for column in table.columns)
    return list(zip(*stored, strict=True))


def _stored(batch: pa.RecordBatch, declared: Column, keys: Sequence[str]) -> list[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    name = declared.name
    column = batch.column(name)
    kind = column.type
    if isinstance(declared.type, TimestampTZ) and kind.tz is None:
        # 96-bit Parquet timestamps are instants that do not say so.
        column = pc.assume_timezone(column, "UTC")
    if pa.types.is_floating(kind):
        nan = pc.fill_null(pc.is_nan(column), False)
        if pc.any(nan).as_py():
            [row] = batch.filter(nan).slice(0, 1).to_pylist()
            named = named_row((key, row[key]) for key in keys)
            raise ContractError(
                f"{name} is NaN, which SQLite would silently store as NULL (row {named})",
                hint=f"replace it in the query: nanvl({name}, ...)",
            )
    if pa.types.is_decimal(kind):
        texts = column.cast(pa.string()).to_pylist()
        return [None if text is None else _plain(text) for text in texts]
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = column.cast(pa.string())
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    values: list[Any] = column.to_pylist()
    return values


def _plain(text: str) -> str:
    """Write a decimal out: Arrow's `1E-7` is the same number as `0.0000001`, but another text."""
    return format(Decimal(text), "f") if "E" in text else text


def canonical_text(value: Any, kind: str, precision: int = 0, scale: int = 0) -> str | None:
    """Return a value as `to_sqlite` stores it; NULL where it is none of that kind."""
    try:
        match kind:
            case _ if value is None:
                return None
            case "numeric":
                return _exact(Decimal(str(value)), precision, scale)
            case "date":
                return _date(value).isoformat()
            case "timestamp":
                return _timestamp(value).isoformat(sep=" ", timespec="microseconds")
            case "timestamptz":
                utc = _instant(value).replace(tzinfo=None)
                return utc.isoformat(sep=" ", timespec="microseconds") + "Z"
            case _:
                return None
    except (ValueError, TypeError, ArithmeticError):
        return None


def _exact(number: Decimal, precision: int, scale: int) -> str | None:
    if not number.is_finite():
        return None
    with localcontext(prec=200):
        fixed = number.quantize(Decimal(1).scaleb(-scale))
        fits = fixed == number and abs(fixed) < Decimal(10) ** (precision - scale)
        # Of zeros there is one.
        return format(abs(fixed) if fixed == 0 else fixed, "f") if fits else None
