"""The target table's markers, applied to the query's rows before the contract judges them.

Only projections of Spark SQL: no row passes through Python, and no pass is added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow.errors import ContractError
from ematix_flow.spec.normalize.chain import PARSERS, chain
from ematix_flow.spec.normalize.expression import derives
from ematix_flow.spec.normalize.family import TEXT, Family, listed
from ematix_flow.spec.table import Column, Table
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.markers import projections, rendered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

_FAMILIES = {
    "string": Family.TEXT,
    "boolean": Family.BOOLEAN,
    "date": Family.DATE,
    "timestamp_ntz": Family.WALL_CLOCK,
    "timestamp": Family.INSTANT,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "float", "double"), Family.NUMBER),
}
_UNTYPED = "void"
_SPARK_NAMES = {
    Family.TEXT: "string",
    Family.NUMBER: "int",
    Family.BOOLEAN: "boolean",
    Family.DATE: "date",
    Family.WALL_CLOCK: "timestamp_ntz",
    Family.INSTANT: "timestamp",
}


def normalize(frame: DataFrame, table: Table) -> DataFrame:
    """Apply all markers of *table*; add what they could not read, for `judge` (see `Rule.flag`)."""
    if not any(column.markers for column in table.columns):
        return frame
    names = {name.casefold(): name for name in frame.columns}
    wanted = [column for column in table.columns if not derives(column.markers)]
    if len(names) < len(frame.columns) or any(each.name.casefold() not in names for each in wanted):
        # The contract refuses these columns, and knows better how to say it.
        return frame
    _refuse_returned(table, names)
    types = {field.name: field.dataType for field in frame.schema.fields}
    given = {each.name: _family(types[names[each.name.casefold()]], each, table) for each in wanted}
    declared = {each.name.casefold(): each.name for each in wanted}
    extra = [name for name in frame.columns if name.casefold() not in declared]
    frame = frame.selectExpr(
        *(_renamed(names[folded], name, given[name]) for folded, name in declared.items()),
        *(quoted(name, "spark") for name in extra),
    )
    known = {name: family for name, (family, _) in given.items() if family is not None}
    for projection in projections(table, known):
        frame = frame.selectExpr(
            *(
                f"{rendered(node, 'spark')} AS {quoted(name, 'spark')}"
                for name, node in projection.outputs.items()
            ),
            *(quoted(name, "spark") for name in extra),
        )
    return frame


def _renamed(name: str, declared: str, given: tuple[Family | None, bool]) -> str:
    family, untyped = given
    column = quoted(name, "spark")
    if untyped and family is not None:
        column = f"CAST({column} AS {_SPARK_NAMES[family]})"
    return f"{column} AS {quoted(declared, 'spark')}"


def _family(actual: DataType, column: Column, table: Table) -> tuple[Family | None, bool]:
    """Return the family of what the query returns, and whether it is a bare NULL."""
    accepted = chain(column.markers, column.type).accepts
    simple = actual.simpleString()
    if not column.markers:
        return None, False
    if simple == _UNTYPED:
        return next((each for each in _SPARK_NAMES if each in accepted), None), True
    found = _family_of(simple)
    if found not in accepted:
        raise ContractError(
            f"the query returns {column.name} as {simple}, but its marker {column.markers[0]} "
            f"takes {listed(accepted)}",
            where=table.location,
            hint=_remedy(column, found, accepted),
        )
    return found, False


def _family_of(simple: str) -> Family:
    if simple.startswith(("varchar", "char", "string")):
        return Family.TEXT
    if simple.startswith("decimal"):
        return Family.NUMBER
    return _FAMILIES.get(simple, Family.OTHER)


def _remedy(column: Column, found: Family, accepted: frozenset[Family]) -> str:
    if found is Family.TEXT:
        parser = next((PARSERS[each] for each in accepted if each in PARSERS), None)
        if parser:
            return f"put {parser} before it, or CAST {column.name} in the query"
    if accepted == TEXT:
        return f"CAST({column.name} AS STRING) in the query, or leave the marker out"
    return f"CAST {column.name} in the query, or leave the marker out"


def _refuse_returned(table: Table, names: dict[str, str]) -> None:
    for column in table.columns:
        if derives(column.markers) and column.name.casefold() in names:
            raise ContractError(
                f"the query returns {column.name}, but {table.name} computes it: "
                f"{column.markers[0]}",
                where=table.location,
                hint=f"leave {column.name} out of the SELECT, or use sql(...) to change its value",
            )
