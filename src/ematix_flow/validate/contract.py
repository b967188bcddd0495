"""Rows against the target table's declaration.

Adds two columns and removes none of the rows: the number of the first rule a row
breaks (NULL for a good row) and the offending value. Staging keeps them, so the
verdict costs no pass of its own, and the footer of each staged file already tells
whether any row is bad.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ematix_flow._base.suggest import nearest
from ematix_flow.errors import ContractError
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract, Rule, RuleKind
from ematix_flow.spec.table import Column as DeclaredColumn
from ematix_flow.spec.types import JSON, JSONB, UUID, Double, Float, Numeric, String
from ematix_flow.sql.type_names import type_name

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

_UUID = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_EXACT_DIGITS = 38
_BEYOND_BIGINT = 2.0**63


def judge(frame: DataFrame, contract: Contract) -> DataFrame:
    """Return the declared columns in their declared types, and the verdict on each row."""
    from pyspark.sql import functions

    found = _match_columns(frame, contract)
    raw = {
        column.name: functions.col(_quoted(found[column.name])) for column in contract.table.columns
    }
    types = {field.name: field.dataType for field in frame.schema.fields}
    cast = {
        column.name: _cast(raw[column.name], types[found[column.name]], column)
        for column in contract.table.columns
    }
    broken, value = functions.lit(None).cast("int"), functions.lit(None).cast("string")
    # Built backwards, so that the first rule of the first column is tried first.
    for rule in reversed(contract.rules):
        breaks = _breaks(rule, raw[rule.column], cast[rule.column], types[found[rule.column]])
        if breaks is None:
            continue
        broken = functions.when(breaks, functions.lit(rule.number)).otherwise(broken)
        value = functions.when(breaks, raw[rule.column].cast("string")).otherwise(value)
    return frame.select(
        *(cast[column.name].alias(column.name) for column in contract.table.columns),
        broken.alias(RULE_COLUMN),
        value.alias(VALUE_COLUMN),
    )


def _match_columns(frame: DataFrame, contract: Contract) -> dict[str, str]:
    """Pair declared columns with the query's, by name without regard to case."""
    table = contract.table
    offered: dict[str, str] = {}
    for name in frame.columns:
        if name.casefold() in offered:
            raise ContractError(
                f"the query returns the column {name!r} twice",
                where=table.location,
                hint="give one of them another name with AS",
            )
        offered[name.casefold()] = name
    declared = [column.name for column in table.columns]
    missing = [name for name in declared if name.casefold() not in offered]
    if missing:
        guess = nearest(missing[0], frame.columns)
        raise ContractError(
            f"the query does not return {', '.join(missing)}, declared by {table.name} "
            f"(it returns: {', '.join(frame.columns)})",
            where=table.location,
            hint=f"SELECT {guess} AS {missing[0]}" if guess else f"add {missing[0]} to the SELECT",
        )
    extra = sorted(set(offered) - {name.casefold() for name in declared})
    if extra:
        raise ContractError(
            f"the query returns {', '.join(offered[name] for name in extra)}, "
            f"which {table.name} does not declare",
            where=table.location,
            hint="select only declared columns, or declare it: nothing is dropped silently",
        )
    return {name: offered[name.casefold()] for name in declared}


def _cast(raw: Column, actual: DataType, column: DeclaredColumn) -> Column:
    wanted = type_name(column.type, "spark")
    if _same(actual, wanted):
        return raw
    return raw.try_cast(wanted)


def _breaks(rule: Rule, raw: Column, cast: Column, actual: DataType) -> Column | None:
    """Return the condition under which a row breaks *rule*; None where no row can."""
    from pyspark.sql import functions

    match rule.kind:
        case RuleKind.NOT_NULL:
            return raw.isNull()
        case RuleKind.LENGTH:
            assert isinstance(rule.type, String)
            return functions.length(cast) > rule.type.length
        case RuleKind.TYPE:
            if isinstance(rule.type, UUID):
                return raw.isNotNull() & ~raw.cast("string").rlike(_UUID)
            if isinstance(rule.type, JSON | JSONB):
                return raw.isNotNull() & functions.try_parse_json(raw.cast("string")).isNull()
            if _same(actual, type_name(rule.type, "spark")):
                return None
            return raw.isNotNull() & (cast.isNull() | _loses(raw, cast, actual, rule))


def _loses(raw: Column, cast: Column, actual: DataType, rule: Rule) -> Column:
    """Tell whether the cast changed the value: digits rounded away, a time of day dropped."""
    from pyspark.sql import functions

    simple = actual.simpleString()
    if simple == "string":
        if isinstance(rule.type, Numeric):
            # The widest decimal that still holds the declared integer digits keeps all of it.
            scale = _EXACT_DIGITS - rule.type.precision + rule.type.scale
            exact = f"decimal({_EXACT_DIGITS},{scale})"
            return ~cast.eqNullSafe(raw.try_cast(exact))
        return functions.lit(False)
    if simple.startswith(("array", "struct", "map", "variant", "binary")):
        return functions.lit(False)
    changed = ~cast.try_cast(simple).eqNullSafe(raw)
    if simple == "bigint" and isinstance(rule.type, Float | Double):
        # 2^63 - 1 becomes 2^63 as a double, and casting that back saturates to 2^63 - 1 again.
        return changed | (cast >= _BEYOND_BIGINT)
    return changed


def _same(actual: DataType, wanted: str) -> bool:
    return actual.simpleString().replace(" ", "") == wanted.lower().replace(" ", "").replace(
        "`", ""
    )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
