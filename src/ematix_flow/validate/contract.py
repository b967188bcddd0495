"""Rows against the target table's declaration.

Adds two columns and removes none of the rows: the number of the first rule a row
breaks (NULL for a good row) and the offending value. Staging keeps them, so the
verdict costs no pass of its own, and the footer of each staged file already tells
whether any row is bad.

A value must arrive unchanged. Text is judged by what it says (see `text`); other values
are cast and must come back. Arrays and structs are never cast: their type must be the
declared one. Lengths of text inside of them are judged, UUID and JSON in them are not.

Where rows have a place among others (see `Layout`), that is computed here too, from the
values that will be stored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from ematix_flow.errors import ContractError
from ematix_flow.spec.carried import carried
from ematix_flow.spec.contract import (
    RULE_COLUMN,
    VALUE_COLUMN,
    Contract,
    Rule,
    RuleKind,
    has_lengths,
)
from ematix_flow.spec.layout import DELETED
from ematix_flow.spec.result import match_columns
from ematix_flow.spec.table import Column as DeclaredColumn
from ematix_flow.spec.types import JSON, JSONB, UUID, Array, String, Struct
from ematix_flow.spec.types import DataType as DeclaredType
from ematix_flow.sqltext.identifiers import quoted
from ematix_flow.sqltext.type_names import type_name
from ematix_flow.validate.discarded import DiscardedValues
from ematix_flow.validate.json_text import json_text
from ematix_flow.validate.place import Fault, Place, places
from ematix_flow.validate.storable import cannot_store
from ematix_flow.validate.stored import Stored
from ematix_flow.validate.value import cast_value, loses_value, same_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\z"
_NESTED = ("array", "struct", "map")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Paired:
    """Rows with each value twice.

    :param raw: Where it is as it came.
    :param cast: Where it is in its declared type.
    :param actual: The types that the values came in.
    """

    rows: DataFrame
    raw: Mapping[str, str]
    cast: Mapping[str, str]
    actual: Mapping[str, DataType]


def judge(
    frame: DataFrame,
    contract: Contract,
    *,
    as_json: Collection[str] = (),
    discarded: DiscardedValues | None = None,
) -> DataFrame:
    """Return the declared columns in their declared types, and the verdict on each row.

    :param as_json: The arrays and structs that the target keeps as JSON text (see `json_text`).
    :param discarded: Counts the values that are let go.
    """
    # A projection each for casts, rules and values, so that each is evaluated once per row.
    paired = _paired(frame, contract)
    rows = paired.rows
    place = places(rows, contract, paired.raw, paired.cast) if contract.layout else Place()
    if place.computed:
        rows = rows.select("*", *(each.alias(name) for name, each in place.computed.items()))
    stored = Stored.of(rows, contract, paired.cast)
    faults = _faults(contract, paired, place, stored)
    broken, value = _verdict(faults, contract)
    if discarded is not None:
        rows = discarded.counted(rows, stored.unfit())
    return rows.select("*", broken.alias(RULE_COLUMN)).select(
        *(
            _in_target(held, column, as_json).alias(column.name)
            for column in contract.table.columns
            if (held := stored.value(column.name, faults)) is not None
        ),
        *(each.alias(name) for name, each in place.helpers.items()),
        RULE_COLUMN,
        value.alias(VALUE_COLUMN),
    )


def _paired(frame: DataFrame, contract: Contract) -> _Paired:
    """Find the declared columns, and cast them; what is carried beside them comes along."""
    from pyspark.sql import functions

    layout, columns = contract.layout, contract.table.columns
    flags = tuple(rule.flag for rule in contract.on_markers)
    beside = carried(layout) if layout else ()
    found = match_columns(
        frame.columns,
        contract.table,
        normalized=True,
        ours=(*flags, *beside),
        kept=layout.table.column_names if layout else (),
    )
    types = {field.name: field.dataType for field in frame.schema.fields}
    actual = {column.name: types[found[column.name]] for column in columns}
    for column in columns:
        _require_nested_type(actual[column.name], column, contract)
    raw = {name: f"_flow_raw_{number}" for number, name in enumerate(found)}
    cast = {name: f"_flow_cast_{number}" for number, name in enumerate(found)}
    given = {name: functions.col(quoted(theirs, "spark")) for name, theirs in found.items()}
    held = {
        column.name: cast_value(given[column.name], actual[column.name], column.type)
        for column in columns
    }
    rows = frame.select(
        *(each.alias(raw[name]) for name, each in given.items()),
        *(each.alias(cast[name]) for name, each in held.items()),
        *flags,
        *beside,
    )
    return _Paired(rows=rows, raw=raw, cast=cast, actual=actual)


def _faults(contract: Contract, paired: _Paired, place: Place, stored: Stored) -> dict[Rule, Fault]:
    """Return how each rule is broken, those first that stop the run.

    A row is set aside only where nothing stops the run: no fault hides another.
    """

    def fault(rule: Rule) -> Fault:
        if rule.kind.on_place:
            return place.fault(rule)
        raw = paired.raw[rule.column]
        if rule.kind is RuleKind.DRIFT:
            return stored.fault(rule, raw)
        return _fault(rule, raw, paired.cast[rule.column], paired.actual[rule.column])

    return {rule: fault(rule) for rule in sorted(contract.rules, key=lambda rule: rule.sets_aside)}


def _verdict(faults: Mapping[Rule, Fault], contract: Contract) -> tuple[Column, Column]:
    """Return the number of the first rule that a row breaks, and the offending value."""
    from pyspark.sql import functions

    verdicts = [functions.lit(None).cast("int")]
    shown = [functions.lit(None).cast("string")]
    for rule, fault in faults.items():
        if fault.breaks is None:
            continue
        breaks = _unless_set_aside(fault.breaks, rule, contract)
        if not contract.holds_for_deletions(rule):
            breaks &= ~functions.col(DELETED)
        verdicts.append(functions.when(breaks, functions.lit(rule.number)))
        is_it = functions.col(RULE_COLUMN) == rule.number
        shown.append(functions.when(is_it, fault.offending.cast("string")))
    # The first of a flat list: nested conditions would overflow Spark on a wide table.
    return functions.coalesce(*verdicts), functions.coalesce(*shown)


def _fault(rule: Rule, raw: str, cast: str, actual: DataType) -> Fault:
    from pyspark.sql import functions

    values = functions.col(raw), functions.col(cast)
    shown = functions.col(rule.flag if rule.kind is RuleKind.MARKER else raw)
    return Fault(breaks=_breaks(rule, *values, actual), offending=shown)


def _require_nested_type(actual: DataType, column: DeclaredColumn, contract: Contract) -> None:
    nested = isinstance(column.type, Array | Struct) or actual.simpleString().startswith(_NESTED)
    if nested and not same_type(actual, column.type):
        raise ContractError(
            f"the query returns {column.name} as {actual.simpleString()}, "
            f"but {contract.table.name} declares {column.type} "
            f"({type_name(column.type, 'spark').lower()}): arrays and structs are not converted",
            where=contract.table.location,
            hint=f"build {column.name} with that type in the query, or store to_json(...) as JSON",
        )


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
        case RuleKind.STORABLE:
            assert rule.unstorable is not None
            return cannot_store(cast, rule.type, rule.unstorable)
        case RuleKind.TYPE:
            if isinstance(rule.type, UUID):
                return raw.isNotNull() & ~raw.cast("string").rlike(_UUID)
            if isinstance(rule.type, JSON | JSONB):
                return raw.isNotNull() & functions.try_parse_json(raw.cast("string")).isNull()
            if same_type(actual, rule.type):
                return None
            loses = loses_value(raw, cast, actual, rule.type)
            return raw.isNotNull() & (cast.isNull() if loses is None else cast.isNull() | loses)
        case _:
            raise AssertionError(rule)


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
