"""What Arrow and Spark carry of PostgreSQL's types, and as what.

A type either travels as it is, travels as another that holds each of its values, or is
refused. Where only some values fit (infinity as a day, NaN as a decimal, arrays of arrays),
those are refused when they turn up: nothing is rounded on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ematix_flow.errors import SourceError
from ematix_flow.spec.arrow_type import declared_type
from ematix_flow.spec.types import JSON, JSONB, MOST_DIGITS, UUID, DataType
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    import pyarrow as pa

# PostgreSQL's own names of types, where they are not what people write.
_SPELT = {
    "bool": "boolean",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "bpchar": "char",
    "char": '"char"',
    "timestamptz": "timestamp with time zone",
    "timetz": "time with time zone",
}
_ENDLESS = frozenset({"date", "timestamp", "timestamptz"})
# The last moment of Arrow, Spark and DuckDB is in January of this year.
_LAST_MOMENT = "294247-01-01"
_AS_IT_IS = frozenset(
    {
        *("bool", "int2", "int4", "int8", "float4", "float8", "bytea"),
        *("text", "varchar", "bpchar", "name"),
    }
)
_AS_ANOTHER = {"json": "text", "jsonb": "text", "uuid": "text", "char": "text", "oid": "bigint"}
_STANDS_FOR: dict[str, DataType] = {"uuid": UUID(), "json": JSON(), "jsonb": JSONB()}
# What a refused type can be cast to; any can be to text.
_BETTER = {"money": "numeric"}
_LOST = ", which cannot be carried exactly"


def spelt(field: pa.Field) -> str:
    """Return the type of a described column as people write it."""
    name = _name(field)
    if name == "numeric" and (digits := _digits(field)) is not None:
        return f"numeric({digits[0]},{digits[1]})"
    if name.startswith("_"):
        return f"{_SPELT.get(name[1:], name[1:])}[]"
    return _SPELT.get(name, name)


def export_query(query: str, schema: pa.Schema) -> str:
    """Return *query* with each column as Arrow and Spark carry it."""
    inner = [f"c{number}" for number in range(len(schema))]
    columns = ", ".join(
        f"{_exported(source, field)} AS {quoted(field.name, 'postgres')}"
        for source, field in zip(inner, schema, strict=True)
    )
    # Own names inside, because the query may return one name twice; a line of its own,
    # because it may end in a comment.
    return f"SELECT {columns} FROM ({query}\n) AS source({', '.join(inner)})"  # noqa: S608


def passed_query(query: str, schema: pa.Schema) -> str:
    """Return *query* with each column in the bytes that a staged column takes.

    Nothing is cast that need not be: `char(5)` would lose its blanks on the way to text.
    """
    inner = [f"c{number}" for number in range(len(schema))]
    columns = ", ".join(_passed(source, field) for source, field in zip(inner, schema, strict=True))
    return f"SELECT {columns} FROM ({query}\n) AS source({', '.join(inner)})"  # noqa: S608


def _passed(source: str, field: pa.Field) -> str:
    name = _name(field)
    if name == "numeric" and _fits_decimal(field):
        return _checked(source, f"{source} <> 'NaN'", field, spelt(field))
    return source if name == "uuid" else _exported(source, field)


def lost_value(message: str) -> SourceError | None:
    """Return our error if PostgreSQL's *message* is the refusal that `export_query` put in."""
    text = message.partition(': "')[2].rpartition('"')[0]
    if not text.startswith("column ") or not text.endswith(_LOST):
        return None
    return SourceError(text, hint="CAST it in the query, to text to take it as it is")


def carried_schema(described: pa.Schema) -> pa.Schema:
    """Return the columns that the exported query gives, in plain Arrow types."""
    import pyarrow as pa

    return pa.schema([pa.field(field.name, _arrow(field)) for field in described])


def travels_as(field: pa.Field) -> DataType | None:
    """Return what a described column is once it is exported: text may stand for more."""
    return _STANDS_FOR.get(_name(field)) or declared_type(_arrow(field))


def carried(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch of the exported query in the types of `carried_schema`."""
    import pyarrow as pa

    arrays = [
        _decimals(column, field) if pa.types.is_decimal(field.type) else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.record_batch(arrays, schema=schema)


def _exported(source: str, field: pa.Field) -> str:
    name = _name(field)
    if name in _ENDLESS:
        carriable = f"isfinite({source}) AND {source} < {_beyond(name)}"
        return _checked(source, carriable, field, spelt(field))
    if name in _AS_IT_IS:
        return source
    if name in _AS_ANOTHER:
        return f"CAST({source} AS {_AS_ANOTHER[name]})"
    if name == "numeric" or _is_text(field.type):
        # The server writes a number out faster than the driver does. An enum is text as well.
        return f"CAST({source} AS text)"
    if (element := _element(field)) is not None:
        return _exported_array(source, field, element)
    raise SourceError(
        f"column {field.name!r} is {spelt(field)}, which Spark cannot carry exactly",
        hint=f"CAST({field.name} AS {_BETTER.get(name, 'text')}) in the query",
    )


def _exported_array(source: str, field: pa.Field, element: pa.Field) -> str:
    name = _name(element)
    flat = f"coalesce(array_ndims({source}), 1) = 1"
    if name in _ENDLESS:
        # A NULL among them is no answer.
        odd = f"{_beyond(name)} <= ANY ({source}) OR '-infinity' = ANY ({source})"
        finite = f"NOT coalesce({odd}, false)"
        return _checked(source, f"{flat} AND {finite}", field, f"{spelt(element)}[]")
    if name in _AS_IT_IS:
        return _checked(source, flat, field, f"{spelt(element)}[]")
    other = _AS_ANOTHER.get(name, "text")
    if name in _AS_ANOTHER or name == "numeric" or _is_text(element.type):
        return _checked(f"CAST({source} AS {other}[])", flat, field, f"{other}[]")
    raise SourceError(
        f"column {field.name!r} is {spelt(field)}, which Spark cannot carry exactly",
        hint=f"CAST({field.name} AS text[]) in the query",
    )


def _beyond(name: str) -> str:
    """Return what no day, or no moment, may reach."""
    return "'infinity'" if name == "date" else f"'{_LAST_MOMENT}'"


def _checked(value: str, condition: str, field: pa.Field, kind: str) -> str:
    """Return SQL that fails on a value that is not carried, with a message that says so.

    PostgreSQL has no function that raises an error, but it quotes text it cannot cast.
    """
    before = exp.Literal.string(f"column {field.name!r} holds ").sql(dialect="postgres")
    after = exp.Literal.string(_LOST).sql(dialect="postgres")
    refusal = f"CAST({before} || CAST({value} AS text) || {after} AS {kind})"
    return f"CASE WHEN {value} IS NULL OR ({condition}) THEN {value} ELSE {refusal} END"


def _arrow(field: pa.Field) -> pa.DataType:
    """Return the Arrow type of an exported column."""
    import pyarrow as pa

    name = _name(field)
    if name == "numeric" and _fits_decimal(field):
        return pa.decimal128(*(_digits(field) or ()))
    if name == "oid":
        return pa.int64()
    if name in _AS_IT_IS | _ENDLESS:
        return field.type
    if (element := _element(field)) is not None:
        return pa.list_(_arrow_of_element(element))
    return pa.string()


def _arrow_of_element(element: pa.Field) -> pa.DataType:
    import pyarrow as pa

    # Elements tell no digits, so numbers among them travel as text.
    return pa.string() if _name(element) == "numeric" else _arrow(element)


def _decimals(column: Any, field: pa.Field) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = column.storage if isinstance(column, pa.ExtensionArray) else column
    try:
        return texts.cast(field.type)
    except pa.ArrowInvalid as error:
        odd = texts.filter(pc.invert(pc.match_substring_regex(texts, r"^-?[0-9.]+$")))
        shown = odd[0].as_py() if len(odd) else "a number of more digits"
        raise SourceError(
            f"column {field.name!r} holds {shown}{_LOST} as {field.type}",
            hint="CAST it in the query, to text to take it as it is",
        ) from error


def _name(field: pa.Field) -> str:
    return _metadata(field, b"POSTGRESQL:type")


def _metadata(field: pa.Field, key: bytes) -> str:
    found: bytes = (field.metadata or {}).get(key, b"")
    return found.decode()


def _digits(field: pa.Field) -> tuple[int, int] | None:
    """Return precision and scale of a numeric column; None where it was declared without."""
    modifier = int(_metadata(field, b"POSTGRESQL:typmod") or -1) - 4
    if modifier < 0:
        return None
    scale = modifier & 0x7FF
    # 11 bits with a sign: PostgreSQL 15 allows numeric(3, -2).
    return modifier >> 16, scale - 0x800 if scale > 0x3FF else scale


def _fits_decimal(field: pa.Field) -> bool:
    digits = _digits(field)
    return digits is not None and 0 <= digits[1] <= digits[0] <= MOST_DIGITS


def _element(field: pa.Field) -> pa.Field | None:
    import pyarrow as pa

    return field.type.value_field if pa.types.is_list(field.type) else None


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind))
