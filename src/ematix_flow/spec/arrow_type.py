"""Declared types as Arrow types, and when two Arrow types hold the same values."""

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
