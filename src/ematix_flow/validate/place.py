"""A row's place among others: its order, when its version begins, its incremental column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ematix_flow.errors import ContractError
from ematix_flow.spec.carried import foreign_order, given_name
from ematix_flow.spec.contract import Contract, Rule, RuleKind
from ematix_flow.spec.cursor import PART_SEPARATOR, TAGS
from ematix_flow.spec.layout import AT, CURSOR, DELETED, SEQUENCE, Layout
from ematix_flow.spec.types import Date, Timestamp, TimestampTZ
from ematix_flow.validate.order_text import order_text, require_ordered
from ematix_flow.validate.value import cast_value, loses_value, same_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_CURSOR_TEXT = "_flow_cursor_text"
_TIMES = ("date", "timestamp", "timestamp_ntz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """When a row breaks a rule (None: no row can), and the value to show then."""

    breaks: Column | None
    offending: Column


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What is computed per row, how it can be broken, and what is staged of it.

    :param computed: Columns to add before rows are judged.
    :param helpers: The staged helpers, over those columns.
    :param faults: How rules are broken, by their kind and column.
    """

    computed: Mapping[str, Column] = field(default_factory=dict)
    helpers: Mapping[str, Column] = field(default_factory=dict)
    faults: Mapping[tuple[RuleKind, str], Fault] = field(default_factory=dict)

    def fault(self, rule: Rule) -> Fault:
        """Return how *rule* is broken."""
        return self.faults[rule.kind, rule.column]


def places(
    paired: DataFrame, contract: Contract, raw: Mapping[str, str], cast: Mapping[str, str]
) -> Place:
    """Return what the contract's layout asks of each row.

    :param paired: Rows with each value as it came (*raw*) and as it will be stored (*cast*).
    """
    assert contract.layout is not None
    return _Places(paired, contract, contract.layout, raw, cast).place()


@dataclass(slots=True)
class _Places:
    paired: DataFrame
    contract: Contract
    layout: Layout
    raw: Mapping[str, str]
    cast: Mapping[str, str]
    computed: dict[str, Column] = field(default_factory=dict)
    helpers: dict[str, Column] = field(default_factory=dict)
    faults: dict[tuple[RuleKind, str], Fault] = field(default_factory=dict)

    def place(self) -> Place:
        from pyspark.sql import functions

        if self.layout.has_deletion_flag:
            self.helpers[DELETED] = functions.col(DELETED)
        if self.layout.order:
            self._order()
        for rule in self.contract.rules:
            if rule.kind is RuleKind.BEGINNING:
                self._beginning(rule)
            elif rule.kind is RuleKind.CURSOR:
                self._cursor(rule)
        return Place(computed=self.computed, helpers=self.helpers, faults=self.faults)

    def _order(self) -> None:
        from pyspark.sql import functions

        parts = []
        for position, name in enumerate(self.layout.order):
            shown, column = self._columns(name)
            kind = self.paired.schema[column].dataType
            require_ordered(kind, name, self.contract.table.location)
            part = f"_flow_part_{position}"
            self.computed[part] = order_text(functions.col(column), kind)
            self.faults[RuleKind.ORDER, name] = Fault(
                breaks=functions.col(part).isNull(), offending=functions.col(shown)
            )
            parts.append(functions.col(part))
        self.helpers[SEQUENCE] = functions.concat_ws(PART_SEPARATOR, *parts)

    def _beginning(self, rule: Rule) -> None:
        from pyspark.sql import functions

        shown, column = self._columns(rule.column)
        actual = self.paired.schema[column].dataType
        is_time = isinstance(rule.type, Date | Timestamp | TimestampTZ)
        if is_time and actual.simpleString() not in (*_TIMES, "string"):
            raise ContractError(
                f"a version begins at its {rule.column}, and that is {actual.simpleString()}, "
                f"not a time",
                where=self.contract.table.location,
                hint='name the column that holds the time: event_timestamp_column="..."',
            )
        value = functions.col(column)
        self.computed[AT] = cast_value(value, actual, rule.type)
        begins = functions.col(AT)
        loses = None
        if not same_type(actual, rule.type):
            loses = loses_value(value, begins, actual, rule.type)
        bad = begins.isNull() if loses is None else begins.isNull() | loses
        self.faults[rule.kind, rule.column] = Fault(breaks=bad, offending=functions.col(shown))
        self.helpers[AT] = begins

    def _cursor(self, rule: Rule) -> None:
        from pyspark.sql import functions

        kind = self.paired.schema[CURSOR].dataType
        require_ordered(kind, rule.column, self.contract.table.location)
        tag = functions.lit(TAGS[kind.simpleString().partition("(")[0]])
        text = order_text(functions.col(CURSOR), kind)
        self.computed[_CURSOR_TEXT] = functions.concat(tag, text)
        value = functions.col(_CURSOR_TEXT)
        self.faults[rule.kind, rule.column] = Fault(
            breaks=value.isNull(), offending=functions.col(CURSOR)
        )
        self.helpers[CURSOR] = value

    def _columns(self, name: str) -> tuple[str, str]:
        """Return where an order column is, as it came and as it will be stored."""
        given = given_name(self.layout, name)
        if given is None:
            column = foreign_order(self.layout)[name]
            return column, column
        return self.raw[given], self.cast[given]
