"""Declared types as Arrow types, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.spec.types import (
    JSON,
    JSONB,
    UUID,
    Array,
    BigInt,
    Boolean,
    Bytes,
    DataType,
    Date,
    Double,
    Float,
    Integer,
    Numeric,
    SmallInt,
    String,
    Struct,
    Text,
    Timestamp,
    TimestampTZ,
)

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_type(kind: DataType) -> pa.DataType:
    """Return the Arrow type in which Spark carries *kind*."""
    import pyarrow as pa

    match kind:
        case Numeric(precision, scale):
            return pa.decimal128(precision, scale)
        case Array(element):
            return pa.list_(arrow_type(element))
        case Struct(fields):
            return pa.struct([(name, arrow_type(each)) for name, each in fields])
        case Text() | String() | JSON() | JSONB() | UUID():
            return pa.string()
        case TimestampTZ():
            return pa.timestamp("us", tz="UTC")
        case Timestamp():
            return pa.timestamp("us")
    plain = {
        SmallInt: pa.int16(),
        Integer: pa.int32(),
        BigInt: pa.int64(),
        Float: pa.float32(),
        Double: pa.float64(),
        Boolean: pa.bool_(),
        Date: pa.date32(),
        Bytes: pa.binary(),
    }
    return plain[type(kind)]


def declared_type(kind: pa.DataType) -> DataType | None:
    """Return the declared type that holds every value of an Arrow type; None if there is none."""
    import pyarrow as pa

    if pa.types.is_decimal(kind):
        return Numeric(kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return TimestampTZ() if kind.tz else Timestamp()
    if pa.types.is_list(kind):
        element = declared_type(kind.value_type)
        return None if element is None else Array(element)
    if pa.types.is_struct(kind):
        fields = [(field.name, declared_type(field.type)) for field in kind]
        known = [(name, each) for name, each in fields if each is not None]
        return Struct(*known) if len(known) == len(fields) else None
    plain: dict[pa.DataType, DataType] = {
        pa.int8(): SmallInt(),
        pa.int16(): SmallInt(),
        pa.int32(): Integer(),
        pa.int64(): BigInt(),
        pa.float32(): Float(),
        pa.float64(): Double(),
        pa.bool_(): Boolean(),
        pa.date32(): Date(),
        pa.string(): Text(),
        pa.binary(): Bytes(),
    }
    return plain.get(kind)
