"""The one table of types: how each declared type is spelt in each dialect.

Where a spelling is not what one would expect, `NOTES` says so, and `plan` shows it. Arrays and
structs are built from their parts, in `type_names`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ematix_flow.spec.types import (
    JSON,
    JSONB,
    UUID,
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
    Text,
    Timestamp,
    TimestampTZ,
)

DIALECTS = ("spark", "postgres", "mysql", "mariadb", "sqlite", "duckdb", "delta", "iceberg")

# They tell `a` from `A` and from `a `. The collation that both servers know, utf8mb4_bin, does
# not see blanks at the end.
COLLATIONS: Mapping[str, str] = MappingProxyType(
    {"mysql": "utf8mb4_0900_bin", "mariadb": "utf8mb4_nopad_bin"}
)
_LONGTEXT = "LONGTEXT CHARACTER SET utf8mb4 COLLATE {collation}"
_VARCHAR = "VARCHAR({length}) CHARACTER SET utf8mb4 COLLATE {collation}"
_CHAR_36 = "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin"

_DEC = "DECIMAL({precision},{scale})"
_NUM = "NUMERIC({precision},{scale})"
_NUM_TEXT = "NUMERIC_TEXT({precision},{scale})"

_TZ = "TIMESTAMP WITH TIME ZONE"

# Columns in the order of DIALECTS, but for MariaDB, which has the types of MySQL.
_COLUMNS = tuple(dialect for dialect in DIALECTS if dialect != "mariadb")
_ROWS: dict[type[DataType], tuple[str, str, str, str, str, str, str]] = {
    SmallInt: ("SMALLINT", "SMALLINT", "SMALLINT", "SMALLINT", "SMALLINT", "SMALLINT", "INT"),
    Integer: ("INT", "INTEGER", "INT", "INTEGER", "INTEGER", "INT", "INT"),
    BigInt: ("BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT"),
    Float: ("FLOAT", "REAL", "DOUBLE", "FLOAT", "FLOAT", "FLOAT", "FLOAT"),
    Double: ("DOUBLE", "DOUBLE PRECISION", "DOUBLE", "DOUBLE", "DOUBLE", "DOUBLE", "DOUBLE"),
    Boolean: ("BOOLEAN", "BOOLEAN", "BOOLEAN", "BOOLEAN", "BOOLEAN", "BOOLEAN", "BOOLEAN"),
    Text: ("STRING", "TEXT", _LONGTEXT, "TEXT", "VARCHAR", "STRING", "STRING"),
    String: ("STRING", "VARCHAR({length})", _VARCHAR, "TEXT", "VARCHAR", "STRING", "STRING"),
    Numeric: (_DEC, _NUM, _DEC, _NUM_TEXT, _DEC, _DEC, _DEC),
    Date: ("DATE", "DATE", "DATE", "DATE_TEXT", "DATE", "DATE", "DATE"),
    Timestamp: (
        *("TIMESTAMP_NTZ", "TIMESTAMP", "DATETIME(6)", "TIMESTAMP_TEXT"),
        *("TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_NTZ"),
    ),
    TimestampTZ: (
        *("TIMESTAMP", _TZ, "DATETIME(6)", "TIMESTAMPTZ_TEXT"),
        *(_TZ, "TIMESTAMP", "TIMESTAMP"),
    ),
    JSON: ("STRING", "JSON", _LONGTEXT, "JSON_TEXT", "VARCHAR", "STRING", "STRING"),
    JSONB: ("STRING", "JSONB", "JSON", "JSON_TEXT", "VARCHAR", "STRING", "STRING"),
    UUID: ("STRING", "UUID", _CHAR_36, "UUID_TEXT", "UUID", "STRING", "STRING"),
    Bytes: ("BINARY", "BYTEA", "LONGBLOB", "BLOB", "BLOB", "BINARY", "BINARY"),
}

# What a column becomes that holds arrays or structs as JSON.
JSON_HOLDER: Mapping[str, str] = MappingProxyType(
    {"postgres": "JSONB", "mysql": "JSON", "mariadb": "JSON", "sqlite": "JSON_TEXT"}
)

NOTES: Mapping[tuple[type[DataType], str], str] = MappingProxyType(
    {
        (SmallInt, "iceberg"): "as INT: Iceberg has no 16-bit integer",
        (Float, "mysql"): "as DOUBLE: MySQL shows only six digits of a FLOAT",
        (Float, "mariadb"): "as DOUBLE: MariaDB shows only six digits of a FLOAT",
        (String, "sqlite"): "as TEXT: the length is judged before the row is written",
        (String, "duckdb"): "as VARCHAR: the length is judged before the row is written",
        (String, "delta"): "as STRING: the length is judged before the row is written",
        (String, "iceberg"): "as STRING: the length is judged before the row is written",
        (Numeric, "sqlite"): "as canonical text: SQLite has no exact decimals",
        (Date, "sqlite"): "as canonical text: SQLite has no dates",
        (Timestamp, "sqlite"): "as canonical text: SQLite has no times",
        (TimestampTZ, "sqlite"): "as canonical text in UTC: SQLite has no times",
        (TimestampTZ, "mysql"): "as DATETIME(6) in UTC: a MySQL TIMESTAMP ends in 2038",
        (TimestampTZ, "mariadb"): "as DATETIME(6) in UTC: a MariaDB TIMESTAMP ends in 2038",
        (JSON, "mysql"): "as LONGTEXT: MySQL's JSON would round numbers and reorder keys",
        (JSON, "mariadb"): "as LONGTEXT",
        (JSONB, "mariadb"): "as text that is checked to be JSON",
        (JSONB, "mysql"): "as JSON: numbers become 64-bit, keys are reordered",
        (JSONB, "postgres"): "keys are reordered, and of duplicate keys the last is kept",
        (JSON, "sqlite"): "as text",
        (JSONB, "sqlite"): "as text",
        (JSON, "duckdb"): "as text",
        (JSONB, "duckdb"): "as text",
        (JSON, "delta"): "as text",
        (JSONB, "delta"): "as text",
        (JSON, "iceberg"): "as text",
        (JSONB, "iceberg"): "as text",
        (UUID, "mysql"): "as text of 36 characters",
        (UUID, "mariadb"): "as text of 36 characters",
        (UUID, "sqlite"): "as text",
        (UUID, "delta"): "as text",
        (UUID, "iceberg"): "as text",
    }
)


def spelling(kind: type[DataType], dialect: str) -> str:
    """Return the spelling of a plain type, with `{length}`, `{precision}`, `{scale}` open."""
    text = _ROWS[kind][_COLUMNS.index("mysql" if dialect == "mariadb" else dialect)]
    return text.replace("{collation}", COLLATIONS.get(dialect, ""))
