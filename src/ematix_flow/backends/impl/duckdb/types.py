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
_OTHER_PRECISIONS = ("timestamp_s", "timestamp_ms", "timestamp_ns")
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
    **dict.fromkeys(_OTHER_PRECISIONS, "TIMESTAMP"),
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
    value, conditions = source, _finite(source, kind)
    if wanted != str(kind):
        value = f"CAST({source} AS {wanted})"
        if any(part in str(kind) for part in _MAY_LOSE):
            value = f"TRY_{value}"
            conditions.append(f"CAST({value} AS {kind}) IS NOT DISTINCT FROM {source}")
    return _checked(source, conditions, name, wanted, value) if conditions else value


def _finite(value: str, kind: DuckDBPyType, depth: int = 0) -> list[str]:
    """Return what says that no time in a value is endless; nothing where it has no time.

    :param depth: In how many lists it is.
    """
    match kind.id:
        case "list" | "array":
            (_, element), *_ = _children(kind)
            each = f"x{depth}"
            found = " AND ".join(_finite(each, element, depth + 1))
            listed = f"[{found} FOR {each} IN CAST({value} AS {element}[])]"
            return [f"coalesce(list_aggregate({listed}, 'bool_and'), TRUE)"] if found else []
        case "struct":
            fields = (
                (f"struct_extract({value}, {_text(name)})", field)
                for name, field in _children(kind)
            )
            return [each for field in fields for each in _finite(*field, depth)]
        case simple if simple in _OTHER_PRECISIONS:
            return [f"coalesce(isfinite(TRY_CAST({value} AS TIMESTAMP)), {value} IS NULL)"]
        case simple if simple in _ENDLESS:
            return [f"coalesce(isfinite({value}), {value} IS NULL)"]
        case _:
            return []


def _checked(source: str, conditions: Sequence[str], name: str, wanted: str, value: str) -> str:
    before, after = _text(f"column {name!r} holds "), _text(f", {_LOST}{wanted}")
    condition = " AND ".join(conditions)
    refusal = f"error({before} || CAST({source} AS VARCHAR) || {after})"
    return f"CASE WHEN {source} IS NULL OR ({condition}) THEN {value} ELSE {refusal} END"


def _text(text: str) -> str:
    return exp.Literal.string(text).sql(dialect="duckdb")


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
