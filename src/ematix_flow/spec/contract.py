"""What a table promises about each row, as numbered rules.

The numbers travel with the rows through staging (one small integer per row), so
that all rules cost no pass of their own and the driver can name the broken one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from ematix_flow.spec.drifted import Drifted
from ematix_flow.spec.layout import AT, CURSOR, Layout
from ematix_flow.spec.normalize.marker import Fallible
from ematix_flow.spec.storable import Unstorable, unstorable
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import Array, DataType, String, Struct, Text

# Columns that carry the verdict on a row from `validate` to `stage`. They never reach a target.
RULE_COLUMN = "_flow_rule"
VALUE_COLUMN = "_flow_value"


class RuleKind(StrEnum):
    """How a value can break its column's promise, or a row its place among the others."""

    TYPE = "type"
    LENGTH = "length"
    NOT_NULL = "not_null"
    MARKER = "marker"
    STORABLE = "storable"
    ORDER = "order"
    BEGINNING = "beginning"
    CURSOR = "cursor"
    DRIFT = "drift"

    @property
    def on_place(self) -> bool:
        """Whether the rule is about a helper of ours, and so for every row, deletions included."""
        return self in (RuleKind.ORDER, RuleKind.BEGINNING, RuleKind.CURSOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One promise of one column.

    :param number: Its place among the rules of its contract, which gives it.
    :param unstorable: What the target's database has no value for.
    :param drifted: How the column differs in the target.
    """

    number: int = 0
    column: str
    kind: RuleKind
    type: DataType
    marker: Fallible | None = None
    unstorable: Unstorable | None = None
    drifted: Drifted | None = None

    @property
    def flag(self) -> str:
        """The column in which a marker leaves what it could not read."""
        return f"_flow_failed_{self.number}"

    @property
    def sets_aside(self) -> bool:
        """Whether a row that breaks this rule leaves the load, instead of stopping it."""
        if self.kind is RuleKind.DRIFT:
            return True
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
            case RuleKind.STORABLE:
                return f"give {self.column} another value in the query, or filter those rows"
            case RuleKind.ORDER | RuleKind.CURSOR:
                return f"give {self.column} a value in the query, or filter those rows"
            case RuleKind.BEGINNING:
                return f"give {self.column} a value in the query that {self.type} holds"
            case RuleKind.DRIFT:
                return f"let {self.column} be in the table as it is declared"

    def describe(self, value: str | None) -> str:  # noqa: C901  # one case per kind
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
            case RuleKind.STORABLE:
                assert self.unstorable is not None
                return f"{self.column}: {self.unstorable.describe(value)}"
            case RuleKind.ORDER if value is None:
                return f"{self.column} is NULL, so the row has no place in the order"
            case RuleKind.ORDER:
                return f"{self.column}: {value!r} has no place in the order"
            case RuleKind.BEGINNING:
                return f"{self.column}: {value!r} is no {self.type}, so no version can begin there"
            case RuleKind.DRIFT:
                return f"{self.column}: the table cannot take {value!r}"
            case RuleKind.CURSOR if value is None:
                return f"{self.column} is NULL, so no incremental load would ever read the row"
            case RuleKind.CURSOR:
                return f"{self.column}: {value!r} is no value that a later load could go on from"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """All rules of a table, in column order.

    :param table: The columns that rows arrive with.
    :param layout: How the rows will meet those that are there, where that adds rules.
    :param drifted: The columns of *table* that the target holds otherwise, or not at all.
    """

    table: Table
    rules: tuple[Rule, ...]
    layout: Layout | None = None
    drifted: tuple[Drifted, ...] = ()

    @classmethod
    def of(
        cls,
        table: Table,
        dialect: str | None = None,
        layout: Layout | None = None,
        cursor: str | None = None,
        drifted: tuple[Drifted, ...] = (),
    ) -> Contract:
        """Return the contract that *table* declares.

        :param dialect: The target's; what it cannot store is a broken rule too.
        :param cursor: The incremental column.
        """
        keys = layout.keys if layout else ()
        rules = (
            *(each for column in table.columns for each in _promises(column, dialect, keys)),
            *(_places(layout, cursor) if layout else ()),
            *(_misfit(each) for each in drifted if each.discards_row),
        )
        numbered = tuple(replace(each, number=number) for number, each in enumerate(rules, start=1))
        return cls(table=table, rules=numbered, layout=layout, drifted=drifted)

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

    def holds_for_deletions(self, rule: Rule) -> bool:
        """Tell whether *rule* is for rows that delete too: they often carry only their key."""
        if self.layout is None or not self.layout.has_deletion_flag:
            return True
        return rule.kind.on_place or rule.column in self.layout.keys


def _promises(column: Column, dialect: str | None, keys: tuple[str, ...]) -> Iterator[Rule]:
    name, kind = column.name, column.type
    # Markers come first: what they could not read is no value to judge.
    for marker in column.markers:
        if isinstance(marker, Fallible) and marker.reports:
            yield Rule(column=name, kind=RuleKind.MARKER, type=kind, marker=marker)
    yield Rule(column=name, kind=RuleKind.TYPE, type=kind)
    if has_lengths(kind):
        yield Rule(column=name, kind=RuleKind.LENGTH, type=kind)
    for each in unstorable(kind, dialect) if dialect else ():
        yield Rule(column=name, kind=RuleKind.STORABLE, type=kind, unstorable=each)
    # NULL matches no row, so it is no key, even where the columns are only known from the query.
    if not column.nullable or name in keys:
        yield Rule(column=name, kind=RuleKind.NOT_NULL, type=kind)


def _places(layout: Layout, cursor: str | None) -> Iterator[Rule]:
    helpers = {column.name: column.type for column in layout.staging.columns}
    for name in layout.order:
        yield Rule(column=name, kind=RuleKind.ORDER, type=Text())
    if AT in helpers:
        yield Rule(column=layout.order[0], kind=RuleKind.BEGINNING, type=helpers[AT])
    if CURSOR in helpers:
        yield Rule(column=cursor or CURSOR, kind=RuleKind.CURSOR, type=Text())


def _misfit(drifted: Drifted) -> Rule:
    column = drifted.column
    return Rule(column=column.name, kind=RuleKind.DRIFT, type=column.type, drifted=drifted)


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
