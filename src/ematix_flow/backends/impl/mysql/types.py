"""What Arrow and Spark carry of MySQL's types, and as what.

The server sends every value as text, and says of each column what it is. A type either travels
as it is, travels as another that holds each of its values, or is refused. Where only some values
fit (0000-00-00 as a day, 7 as a boolean), those are refused when they turn up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ematix_flow.errors import SourceError
from ematix_flow.spec.named_row import first_columns, named_row
from ematix_flow.spec.types import MOST_DIGITS

if TYPE_CHECKING:
    import pyarrow as pa

# The protocol's numbers of types.
_DECIMALS = (0, 246)
_TINY, _SHORT, _LONG, _LONGLONG, _INT24 = 1, 2, 3, 8, 9
_FLOAT, _DOUBLE = 4, 5
_TIMESTAMPS = (7, 17)
_DATES = (10, 14)
_TIMES = (11, 19)
_DATETIMES = (12, 18)
_YEAR, _BIT, _JSON, _NULL = 13, 16, 245, 6
_TEXTS = (15, 247, 248, 249, 250, 251, 252, 253, 254)
_UNSIGNED, _BINARY_CHARSET = 32, 63
_UNSIGNED_64 = (20, 0)
_REFUSED = {**dict.fromkeys(_TIMES, "TIME"), 255: "GEOMETRY", 242: "VECTOR"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column of a result, as the server describes it."""

    name: str
    code: int
    length: int
    decimals: int
    flags: int
    charset: int

    @property
    def unsigned(self) -> bool:
        """Whether it has no negative values."""
        return bool(self.flags & _UNSIGNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAs:
    """How the values of a column travel.

    :param spelt: The type of MySQL that holds what comes out.
    :param convert: The values the server sent, as an Arrow array.
    :param exact: What makes the server send it exactly, where it would round.
    """

    name: str
    spelt: str
    arrow: Any
    convert: Callable[[Sequence[Any]], Any]
    exact: str | None = None


def fields_of(cursor: Any) -> tuple[Field, ...]:
    """Return what the server says of the columns of a result."""
    result = cursor._result  # the driver keeps flags and character sets to itself
    return tuple(
        Field(
            name=each.name,
            code=each.type_code,
            length=each.length,
            decimals=each.scale,
            flags=each.flags,
            charset=each.charsetnr,
        )
        for each in result.fields
    )


def read_as(field: Field) -> ReadAs:
    """Choose how a column travels; SourceError where it cannot, exactly."""
    import pyarrow as pa

    code = field.code
    if code in (_TINY, _SHORT, _LONG, _LONGLONG, _INT24, _YEAR, _BIT):
        return _whole(field)
    if code in _DECIMALS:
        return _decimal(field)
    if code in (_FLOAT, _DOUBLE):
        # Of a FLOAT the server shows six digits; as a double it shows all.
        exact = "CAST({} AS DOUBLE)" if code == _FLOAT else None
        kind = pa.float32() if code == _FLOAT else pa.float64()
        spelt = "float" if code == _FLOAT else "double"
        return ReadAs(name=field.name, spelt=spelt, arrow=kind, convert=_real(kind), exact=exact)
    if code in _DATES:
        return _cast(field, "date", pa.date32())
    if code in _DATETIMES:
        return _cast(field, "datetime(6)", pa.timestamp("us"))
    if code in _TIMESTAMPS:
        # The session is in UTC, so that is what the text is in.
        kind = pa.timestamp("us", tz="UTC")
        convert = _instants
        return ReadAs(name=field.name, spelt="timestamp(6)", arrow=kind, convert=convert)
    if code in _TEXTS and field.charset == _BINARY_CHARSET:
        return _plain(field, "longblob", pa.binary())
    if code in _TEXTS or code in (_JSON, _NULL):
        return _plain(field, "longtext", pa.string())
    kind_name = _REFUSED.get(code, f"of type {code}")
    raise SourceError(
        f"column {field.name!r} is {kind_name}, which Spark cannot carry exactly",
        hint=f"CAST({field.name} AS CHAR) in the query"
        if kind_name == "TIME"
        else "leave it out of the query, or convert it there",
    )


def to_arrow(rows: Sequence[tuple[Any, ...]], columns: Sequence[ReadAs]) -> list[Any]:
    """Return rows as Arrow columns; a value that is not carried is an error."""
    import pyarrow as pa

    arrays = []
    for column, values in zip(columns, zip(*rows, strict=True), strict=True):
        try:
            arrays.append(column.convert(values))
        except (pa.ArrowInvalid, ValueError) as error:
            raise _misfit(column, values, rows, columns) from error
    return arrays


def _whole(field: Field) -> ReadAs:
    import pyarrow as pa

    if field.code == _BIT:
        return _bits(field)
    if field.code == _TINY and field.length == 1:
        # What BOOLEAN is short for.
        return ReadAs(name=field.name, spelt="tinyint(1)", arrow=pa.bool_(), convert=_booleans)
    if field.code == _LONGLONG and field.unsigned:
        return _cast(field, "decimal(20,0)", pa.decimal128(*_UNSIGNED_64))
    if field.code == _LONGLONG or (field.code == _LONG and field.unsigned):
        return _cast(field, "bigint", pa.int64())
    if field.code in (_LONG, _INT24) or (field.code == _SHORT and field.unsigned):
        return _cast(field, "int", pa.int32())
    return _cast(field, "smallint", pa.int16())


def _bits(field: Field) -> ReadAs:
    import pyarrow as pa

    if field.length == 1:
        return ReadAs(name=field.name, spelt="tinyint(1)", arrow=pa.bool_(), convert=_bit_flags)
    if field.length < 64:
        kind, spelt = pa.int64(), "bigint"
    else:
        kind, spelt = pa.decimal128(*_UNSIGNED_64), "decimal(20,0)"
    return ReadAs(name=field.name, spelt=spelt, arrow=kind, convert=_bit_numbers(kind))


def _decimal(field: Field) -> ReadAs:
    import pyarrow as pa

    # Its length counts the sign and the point.
    digits = field.length - (field.decimals > 0) - (not field.unsigned)
    if digits > MOST_DIGITS:
        return _plain(field, "longtext", pa.string())
    digits = max(digits, field.decimals, 1)
    return _cast(
        field, f"decimal({digits},{field.decimals})", pa.decimal128(digits, field.decimals)
    )


def _plain(field: Field, spelt: str, kind: pa.DataType) -> ReadAs:
    import pyarrow as pa

    def convert(values: Sequence[Any]) -> pa.Array:
        return pa.array(values, type=kind)

    return ReadAs(name=field.name, spelt=spelt, arrow=kind, convert=convert)


def _cast(field: Field, spelt: str, kind: pa.DataType) -> ReadAs:
    import pyarrow as pa

    def convert(values: Sequence[Any]) -> pa.Array:
        return pa.array(values, type=pa.string()).cast(kind)

    return ReadAs(name=field.name, spelt=spelt, arrow=kind, convert=convert)


def _real(kind: pa.DataType) -> Callable[[Sequence[Any]], Any]:
    import pyarrow as pa

    def convert(values: Sequence[Any]) -> pa.Array:
        return pa.array(values, type=pa.string()).cast(pa.float64()).cast(kind)

    return convert


def _instants(values: Sequence[Any]) -> Any:
    import pyarrow as pa

    local = pa.array(values, type=pa.string()).cast(pa.timestamp("us"))
    return local.cast(pa.timestamp("us", tz="UTC"))


def _booleans(values: Sequence[Any]) -> Any:
    import pyarrow as pa

    return pa.array([None if value is None else _FLAGS[value] for value in values], pa.bool_())


class _Flags(dict[str, bool]):
    def __missing__(self, key: str) -> bool:
        raise ValueError(key)


_FLAGS = _Flags({"0": False, "1": True})


def _bit_flags(values: Sequence[Any]) -> Any:
    import pyarrow as pa

    return pa.array([None if value is None else value != b"\x00" for value in values], pa.bool_())


def _bit_numbers(kind: pa.DataType) -> Callable[[Sequence[Any]], Any]:
    import pyarrow as pa

    def convert(values: Sequence[Any]) -> pa.Array:
        texts = [None if value is None else str(int.from_bytes(value)) for value in values]
        return pa.array(texts, type=pa.string()).cast(kind)

    return convert


def _misfit(
    column: ReadAs,
    values: Sequence[Any],
    rows: Sequence[tuple[Any, ...]],
    columns: Sequence[ReadAs],
) -> SourceError:
    position = next(number for number, value in enumerate(values) if not _fits(value, column))
    names = first_columns(each.name for each in columns)
    shown = named_row(zip(names, rows[position], strict=False))
    value = values[position]
    zero = isinstance(value, str) and column.spelt.startswith(("date", "timestamp"))
    return SourceError(
        f"column {column.name!r} holds {value!r}, which is not {column.arrow} (row {shown})",
        hint=f"NULLIF({column.name}, 0) in the query makes it NULL"
        if zero
        else f"CAST({column.name} AS CHAR) in the query to take it as it is",
    )


def _fits(value: Any, column: ReadAs) -> bool:
    import pyarrow as pa

    try:
        column.convert([value])
    except (pa.ArrowInvalid, ValueError):
        return False
    return True
