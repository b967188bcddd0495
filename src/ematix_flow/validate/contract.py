"""Rows against the target table's declaration.

Adds two columns and removes none of the rows: the number of the first rule a row
breaks (NULL for a good row) and the offending value. Staging keeps them, so the
verdict costs no pass of its own, and the footer of each staged file already tells
whether any row is bad.

A value must arrive unchanged. Text is judged by what it says (see `text`); other values
are cast and must come back. Arrays and structs are never cast: their type must be the
declared one. Lengths of text inside of them are judged, UUID and JSON in them are not.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from ematix_flow.errors import ContractError
from ematix_flow.spec.contract import (
    RULE_COLUMN,
    VALUE_COLUMN,
    Contract,
    Rule,
    RuleKind,
    has_lengths,
)
from ematix_flow.spec.result import match_columns
from ematix_flow.spec.table import Column as DeclaredColumn
from ematix_flow.spec.types import JSON, JSONB, UUID, Array, Double, Float, String, Struct
from ematix_flow.spec.types import DataType as DeclaredType
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.type_names import type_name
from ematix_flow.validate.json_text import json_text
from ematix_flow.validate.text import BEYOND_BIGINT, cast_text, text_loses

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\z"
_NESTED = ("array", "struct", "map")


def judge(frame: DataFrame, contract: Contract, *, as_json: Collection[str] = ()) -> DataFrame:
    """Return the declared columns in their declared types, and the verdict on each row.

    :param as_json: The arrays and structs that the target keeps as JSON text (see `json_text`).
    """
    from pyspark.sql import functions

    flags = {rule.flag for rule in contract.on_markers}
    found = match_columns(frame.columns, contract.table, normalized=True, ours=flags)
    types = {field.name: field.dataType for field in frame.schema.fields}
    actual = {column.name: types[found[column.name]] for column in contract.table.columns}
    for column in contract.table.columns:
        _require_nested_type(actual[column.name], column, contract)
    # Three projections, so that each cast and each rule is evaluated once per row.
    raw = {name: f"_flow_raw_{number}" for number, name in enumerate(found)}
    cast = {name: f"_flow_cast_{number}" for number, name in enumerate(found)}
    given = {name: functions.col(quoted(theirs, "spark")) for name, theirs in found.items()}
    paired = frame.select(
        *(each.alias(raw[name]) for name, each in given.items()),
        *(
            _cast(given[column.name], actual[column.name], column).alias(cast[column.name])
            for column in contract.table.columns
        ),
        *(rule.flag for rule in contract.on_markers),
    )
    verdicts = [functions.lit(None).cast("int")]
    shown = []
    # A row is set aside only where nothing stops the run: no fault hides another.
    for rule in sorted(contract.rules, key=lambda rule: rule.sets_aside):
        values = functions.col(raw[rule.column]), functions.col(cast[rule.column])
        breaks = _breaks(rule, *values, actual[rule.column])
        if breaks is not None:
            breaks = _unless_set_aside(breaks, rule, contract)
            verdicts.append(functions.when(breaks, functions.lit(rule.number)))
        is_it = functions.col(RULE_COLUMN) == rule.number
        on_marker = rule.kind is RuleKind.MARKER
        offending = functions.col(rule.flag if on_marker else raw[rule.column])
        shown.append(functions.when(is_it, offending.cast("string")))
    # The first of a flat list: nested conditions would overflow Spark on a wide table.
    broken, value = functions.coalesce(*verdicts), functions.coalesce(*shown)
    return paired.select("*", broken.alias(RULE_COLUMN)).select(
        *(
            _in_target(functions.col(cast[column.name]), column, as_json).alias(column.name)
            for column in contract.table.columns
        ),
        RULE_COLUMN,
        value.alias(VALUE_COLUMN),
    )


def _require_nested_type(actual: DataType, column: DeclaredColumn, contract: Contract) -> None:
    nested = isinstance(column.type, Array | Struct) or actual.simpleString().startswith(_NESTED)
    if nested and not _same(actual, column.type):
        raise ContractError(
            f"the query returns {column.name} as {actual.simpleString()}, "
            f"but {contract.table.name} declares {column.type} "
            f"({type_name(column.type, 'spark').lower()}): arrays and structs are not converted",
            where=contract.table.location,
            hint=f"build {column.name} with that type in the query, or store to_json(...) as JSON",
        )


def _cast(raw: Column, actual: DataType, column: DeclaredColumn) -> Column:
    if _same(actual, column.type):
        return raw
    if actual.simpleString() == "string":
        return cast_text(raw, column.type)
    return raw.try_cast(type_name(column.type, "spark"))


def _in_target(value: Column, column: DeclaredColumn, as_json: Collection[str]) -> Column:
    return json_text(value, column.type) if column.name in as_json else value


def _breaks(rule: Rule, raw: Column, cast: Column, actual: DataType) -> Column | None:
    """Return the condition under which a row breaks *rule*; None where no row can."""
    from pyspark.sql import functions

    match rule.kind:
        case RuleKind.MARKER:
            return functions.col(rule.flag).isNotNull()
        case RuleKind.NOT_NULL:
            return raw.isNull()
        case RuleKind.LENGTH:
            return _too_long(cast, rule.type)
        case RuleKind.TYPE:
            if isinstance(rule.type, UUID):
                return raw.isNotNull() & ~raw.cast("string").rlike(_UUID)
            if isinstance(rule.type, JSON | JSONB):
                return raw.isNotNull() & functions.try_parse_json(raw.cast("string")).isNull()
            if _same(actual, rule.type):
                return None
            loses = _loses(raw, cast, actual, rule.type)
            return raw.isNotNull() & (cast.isNull() if loses is None else cast.isNull() | loses)


def _unless_set_aside(breaks: Column, rule: Rule, contract: Contract) -> Column:
    """Let a column keep no promise where its own marker sets the row aside."""
    from pyspark.sql import functions

    for other in contract.rules_on(rule.column):
        if other.sets_aside and other is not rule:
            breaks &= functions.col(other.flag).isNull()
    return breaks


def _too_long(value: Column, kind: DeclaredType) -> Column:
    """Return when text in *value*, or anywhere inside of it, is longer than declared."""
    from pyspark.sql import functions

    match kind:
        case String(length):
            return functions.length(value) > length
        case Array(element):
            return functions.exists(value, lambda each: _too_long(each, element))
        case Struct(fields):
            limited = [(name, field) for name, field in fields if has_lengths(field)]
            return reduce(or_, (_too_long(value.getField(name), field) for name, field in limited))
        case _:
            raise AssertionError(kind)


def _loses(raw: Column, cast: Column, actual: DataType, kind: DeclaredType) -> Column | None:
    """Return when the cast changed the value: digits rounded away, a time of day dropped."""
    simple = actual.simpleString()
    if simple == "string":
        return text_loses(raw, cast, kind)
    # A bare NULL (void, also as an element) has no value to lose, and nothing can be cast to it.
    if simple.startswith(("variant", "binary")) or "void" in simple:
        return None
    changed = ~cast.try_cast(simple).eqNullSafe(raw)
    if simple == "bigint" and isinstance(kind, Float | Double):
        # 2^63 - 1 becomes 2^63 as a double, and casting that back saturates to 2^63 - 1 again.
        return changed | (cast >= BEYOND_BIGINT)
    return changed


def _same(actual: DataType, kind: DeclaredType) -> bool:
    """Tell whether a value needs no cast: the same type, and inside of it the same names."""
    from pyspark.sql.types import ArrayType, StructType

    match kind:
        case Array(element):
            return isinstance(actual, ArrayType) and _same(actual.elementType, element)
        case Struct(fields):
            return (
                isinstance(actual, StructType)
                and actual.names == [name for name, _ in fields]
                and all(
                    _same(mine.dataType, theirs)
                    for mine, (_, theirs) in zip(actual.fields, fields, strict=True)
                )
            )
        case _:
            return actual.simpleString() == type_name(kind, "spark").lower()
