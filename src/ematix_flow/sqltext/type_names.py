"""How each declared type is spelt in each dialect: the one table of types.

SQLite has few types and forgets lengths, so there the declared name is kept for
readers (SQLite allows any name) and values are stored in a form that loses nothing:
decimals, dates and instants as canonical text.
"""

from __future__ import annotations

from collections.abc import Iterable

from ematix_flow.errors import NotSupported
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
from ematix_flow.sqltext.identifiers import quoted

_PLAIN: dict[str, dict[type[DataType], str]] = {
    "spark": {
        SmallInt: "SMALLINT",
        Integer: "INT",
        BigInt: "BIGINT",
        Float: "FLOAT",
        Double: "DOUBLE",
        Boolean: "BOOLEAN",
        Text: "STRING",
        String: "STRING",
        Date: "DATE",
        Timestamp: "TIMESTAMP_NTZ",
        TimestampTZ: "TIMESTAMP",
        JSON: "STRING",
        JSONB: "STRING",
        UUID: "STRING",
        Bytes: "BINARY",
    },
    "duckdb": {
        SmallInt: "SMALLINT",
        Integer: "INTEGER",
        BigInt: "BIGINT",
        Float: "FLOAT",
        Double: "DOUBLE",
        Boolean: "BOOLEAN",
        Text: "VARCHAR",
        String: "VARCHAR",
        Date: "DATE",
        Timestamp: "TIMESTAMP",
        TimestampTZ: "TIMESTAMP WITH TIME ZONE",
        JSON: "VARCHAR",
        JSONB: "VARCHAR",
        UUID: "UUID",
        Bytes: "BLOB",
    },
    "sqlite": {
        SmallInt: "SMALLINT",
        Integer: "INTEGER",
        BigInt: "BIGINT",
        Float: "FLOAT",
        Double: "DOUBLE",
        Boolean: "BOOLEAN",
        Text: "TEXT",
        String: "TEXT",
        Date: "DATE_TEXT",
        Timestamp: "TIMESTAMP_TEXT",
        TimestampTZ: "TIMESTAMPTZ_TEXT",
        JSON: "JSON_TEXT",
        JSONB: "JSON_TEXT",
        UUID: "UUID_TEXT",
        Bytes: "BLOB",
    },
}


def type_name(kind: DataType, dialect: str) -> str:
    """Return how *kind* is declared in *dialect*; a type it cannot hold is an error."""
    match kind, dialect:
        case Numeric(precision, scale), "sqlite":
            # TEXT affinity: SQLite would turn a NUMERIC column into floating point.
            return f"NUMERIC_TEXT({precision},{scale})"
        case Numeric(precision, scale), _:
            return f"DECIMAL({precision},{scale})"
        case Array(element), "spark":
            return f"ARRAY<{type_name(element, dialect)}>"
        case Array(element), "duckdb":
            return f"{type_name(element, dialect)}[]"
        case Struct(fields), "spark":
            return f"STRUCT<{_fields(fields, dialect, separator=': ')}>"
        case Struct(fields), "duckdb":
            return f"STRUCT({_fields(fields, dialect, separator=' ')})"
        case ((Array() | Struct()), _):
            raise NotSupported(
                f"{kind} cannot be held by {dialect}",
                hint="store it as JSON: declare the column JSON and convert with to_json(...)",
            )
        case _:
            return _PLAIN[dialect][type(kind)]


def _fields(fields: Iterable[tuple[str, DataType]], dialect: str, *, separator: str) -> str:
    return ", ".join(
        f"{quoted(name, dialect)}{separator}{type_name(kind, dialect)}" for name, kind in fields
    )
