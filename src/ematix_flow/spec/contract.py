"""What a table promises about each row, as numbered rules.

The numbers travel with the rows through staging (one small integer per row), so
that all rules cost no pass of their own and the driver can name the broken one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ematix_flow.spec.normalize.marker import Fallible
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
    MARKER = "marker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One promise of one column."""

    number: int
    column: str
    kind: RuleKind
    type: DataType
    marker: Fallible | None = None

    @property
    def flag(self) -> str:
        """The column in which a marker leaves what it could not read."""
        return f"_flow_failed_{self.number}"

    @property
    def sets_aside(self) -> bool:
        """Whether a row that breaks this rule leaves the load, instead of stopping it."""
        return self.marker is not None and self.marker.on_failure == "quarantine"

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
            case RuleKind.MARKER:
                return (
                    f"correct {self.column} in the query, or tell its marker what to do: "
                    'on_failure="null" or "quarantine", or a default'
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
            case RuleKind.MARKER:
                assert self.marker is not None
                return f"{self.column}: {value!r} is not {self.marker.expected}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """All rules of a table, in column order."""

    table: Table
    rules: tuple[Rule, ...]

    @classmethod
    def of(cls, table: Table) -> Contract:
        """Return the contract that *table* declares."""
        promises = [(column, *each) for column in table.columns for each in _promises(column)]
        rules = tuple(
            Rule(number=number, column=column.name, kind=kind, type=column.type, marker=marker)
            for number, (column, kind, marker) in enumerate(promises, start=1)
        )
        return cls(table=table, rules=rules)

    def rule(self, number: int) -> Rule:
        """Return the rule with this number."""
        return self.rules[number - 1]

    @property
    def on_markers(self) -> tuple[Rule, ...]:
        """The rules that say a marker could read its value."""
        return tuple(rule for rule in self.rules if rule.kind is RuleKind.MARKER)

    def rules_on(self, column: str) -> tuple[Rule, ...]:
        """Return the rules on the markers of one column, in their order."""
        return tuple(rule for rule in self.on_markers if rule.column == column)

    @property
    def may_set_aside(self) -> bool:
        """Whether a row may leave the load without stopping it."""
        return any(rule.sets_aside for rule in self.rules)


def _promises(column: Column) -> list[tuple[RuleKind, Fallible | None]]:
    # Markers come first: what they could not read is no value to judge.
    promises: list[tuple[RuleKind, Fallible | None]] = [
        (RuleKind.MARKER, marker)
        for marker in column.markers
        if isinstance(marker, Fallible) and marker.reports
    ]
    promises.append((RuleKind.TYPE, None))
    if has_lengths(column.type):
        promises.append((RuleKind.LENGTH, None))
    if not column.nullable:
        promises.append((RuleKind.NOT_NULL, None))
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
