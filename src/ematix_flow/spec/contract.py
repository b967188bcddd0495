"""What a table promises about each row, as numbered rules.

The numbers travel with the rows through staging (one small integer per row), so
that all rules cost no pass of their own and the driver can name the broken one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import Array, DataType, String, Struct

# Columns that carry the verdict on a row from `validate` to `stage`. They never reach a target.
RULE_COLUMN = "_flow_rule"
VALUE_COLUMN = "_flow_value"


class RuleKind(StrEnum):
    """How a value can break its column's promise."""

    TYPE = "type"
    LENGTH = "length"
    NOT_NULL = "not_null"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One promise of one column."""

    number: int
    column: str
    kind: RuleKind
    type: DataType

    @property
    def remedy(self) -> str:
        """One thing the user can do about rows that break this rule."""
        match self.kind:
            case RuleKind.NOT_NULL:
                return f"filter those rows, give {self.column} a value, or declare it `| None`"
            case RuleKind.LENGTH:
                return f"shorten {self.column} in the query, or declare a longer String"
            case RuleKind.TYPE:
                return (
                    f"convert {self.column} in the query (CAST, ROUND), "
                    f"or declare a type that holds the value"
                )

    def describe(self, value: str | None) -> str:
        """Say what is wrong with *value*."""
        match self.kind:
            case RuleKind.NOT_NULL:
                return f"{self.column} is NULL, but declared NOT NULL"
            case RuleKind.LENGTH:
                verb = "is" if isinstance(self.type, String) else "holds text"
                return f"{self.column}: {value!r} {verb} longer than {self.type}"
            case RuleKind.TYPE:
                return f"{self.column}: {value!r} does not fit {self.type} without loss"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """All rules of a table, in column order."""

    table: Table
    rules: tuple[Rule, ...]

    @classmethod
    def of(cls, table: Table) -> Contract:
        """Return the contract that *table* declares."""
        promises = [(column, kind) for column in table.columns for kind in _promises(column)]
        rules = tuple(
            Rule(number=number, column=column.name, kind=kind, type=column.type)
            for number, (column, kind) in enumerate(promises, start=1)
        )
        return cls(table=table, rules=rules)

    def rule(self, number: int) -> Rule:
        """Return the rule with this number."""
        return self.rules[number - 1]


def _promises(column: Column) -> list[RuleKind]:
    promises = [RuleKind.TYPE]
    if has_lengths(column.type):
        promises.append(RuleKind.LENGTH)
    if not column.nullable:
        promises.append(RuleKind.NOT_NULL)
    return promises


def has_lengths(kind: DataType) -> bool:
    """Tell whether *kind* limits the length of text, itself or inside of it."""
    match kind:
        case String():
            return True
        case Array(element):
            return has_lengths(element)
        case Struct(fields):
            return any(has_lengths(field) for _, field in fields)
        case _:
            return False
