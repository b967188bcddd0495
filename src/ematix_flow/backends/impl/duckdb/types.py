"""What Parquet and Spark carry of DuckDB's types, and as what.

A type either travels as it is, travels as another that holds each of its values, or is
refused. Where only some values fit (a HUGEINT of 39 digits, a nanosecond, infinity),
those are refused when they turn up: nothing is rounded on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from ematix_flow.errors import SourceError
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType

_ENDLESS = frozenset({"date", "timestamp", "timestamp with time zone"})
_AS_IT_IS = _ENDLESS | {
    *("boolean", "tinyint", "smallint", "integer", "bigint"),
    *("float", "double", "decimal", "varchar", "blob"),
}
_AS_ANOTHER = {
    "utinyint": "SMALLINT",
    "usmallint": "INTEGER",
    "uinteger": "BIGINT",
    "ubigint": "DECIMAL(20,0)",
    "hugeint": "DECIMAL(38,0)",
    "uhugeint": "DECIMAL(38,0)",
    "timestamp_s": "TIMESTAMP",
    "timestamp_ms": "TIMESTAMP",
    "timestamp_ns": "TIMESTAMP",
    "uuid": "VARCHAR",
    "enum": "VARCHAR",
    "null": "VARCHAR",
}
# Of these, some values do not fit the type they travel as.
_MAY_LOSE = ("HUGEINT", "TIMESTAMP_NS")

_LOST = "which cannot be carried exactly as "


def export_query(query: str, names: Sequence[str], types: Sequence[DuckDBPyType]) -> str:
    """Return *query* with each column as Parquet and Spark carry it."""
    inner = [f"c{number}" for number in range(len(names))]
    columns = ", ".join(
        f"{_exported(source, name, kind)} AS {quoted(name, 'duckdb')}"
        for source, name, kind in zip(inner, names, types, strict=True)
    )
    # Own names inside, because the query may return one name twice; a line of its own,
    # because it may end in a comment.
    return f"SELECT {columns} FROM ({query}\n) AS source({', '.join(inner)})"  # noqa: S608


def lost_value(message: str) -> SourceError | None:
    """Return our error if DuckDB's *message* is the refusal that `export_query` put in."""
    text = message.partition("Error: ")[2]
    if not text.startswith("column ") or _LOST not in text:
        return None
    return SourceError(text, hint="CAST it in the query, to VARCHAR to take it as it is")


def _exported(source: str, name: str, kind: DuckDBPyType) -> str:
    wanted = _carried(kind)
    if wanted is None:
        raise SourceError(
            f"column {name!r} is {kind}, which Spark cannot carry exactly",
            hint=f"CAST({name} AS VARCHAR) in the query to take it as text",
        )
    if kind.id in _ENDLESS:
        return _checked(source, f"isfinite({source})", name, wanted, source)
    if wanted == str(kind):
        return source
    if not any(part in str(kind) for part in _MAY_LOSE):
        return f"CAST({source} AS {wanted})"
    value = f"TRY_CAST({source} AS {wanted})"
    unchanged = f"CAST({value} AS {kind}) IS NOT DISTINCT FROM {source}"
    return _checked(source, unchanged, name, wanted, value)


def _checked(source: str, condition: str, name: str, wanted: str, value: str) -> str:
    before = exp.Literal.string(f"column {name!r} holds ").sql(dialect="duckdb")
    after = exp.Literal.string(f", {_LOST}{wanted}").sql(dialect="duckdb")
    refusal = f"error({before} || CAST({source} AS VARCHAR) || {after})"
    return f"CASE WHEN {source} IS NULL OR {condition} THEN {value} ELSE {refusal} END"


def _carried(kind: DuckDBPyType) -> str | None:
    """Return the type that *kind* travels as; None if there is none."""
    match kind.id:
        case "varchar":
            # JSON is a varchar by another name.
            return "VARCHAR"
        case "list" | "array":
            element = _carried(_children(kind)[0][1])
            return None if element is None else f"{element}[]"
        case "struct":
            fields = [(name, _carried(field)) for name, field in _children(kind)]
            if any(field is None for _, field in fields):
                return None
            listed = ", ".join(f"{quoted(name, 'duckdb')} {field}" for name, field in fields)
            return f"STRUCT({listed})"
        case simple if simple in _AS_IT_IS:
            return str(kind)
        case other:
            return _AS_ANOTHER.get(other)


def _children(kind: DuckDBPyType) -> list[tuple[str, DuckDBPyType]]:
    # Only a size or an enum's values are not types, and neither is asked for here.
    return cast("list[tuple[str, DuckDBPyType]]", kind.children)
