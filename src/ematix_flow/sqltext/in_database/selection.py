"""The query whose result is what a load stages: run by the target's own database.

What `arrange`, `normalize` and `judge` do to rows on Spark, said in the database's SQL. Where a
row may break a rule, two more columns tell which one and by what value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ematix_flow.ports import ActualColumn
from ematix_flow.spec.carried import foreign_order, given_name
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract, Rule, RuleKind
from ematix_flow.spec.cursor import PART_SEPARATOR
from ematix_flow.spec.layout import AT, CURSOR, DELETED, SEQUENCE
from ematix_flow.spec.storable import Unstorable
from ematix_flow.spec.table import Column, Table
from ematix_flow.spec.types import DataType, Date, SmallInt, String, Text, Timestamp, TimestampTZ
from ematix_flow.sqltext.dialect_names import is_mysql
from ematix_flow.sqltext.in_database.converted import Converted
from ematix_flow.sqltext.in_database.order import cursor_kind, order_text
from ematix_flow.sqltext.in_database.rows import Describe, GivenRows, Wanted, given_rows
from ematix_flow.sqltext.in_database.sqlite_value import SQLITE_LENGTH, moved
from ematix_flow.sqltext.in_database.unproven import Unproven
from ematix_flow.sqltext.in_database.value import WHOLE_BITS, converted
from ematix_flow.sqltext.program.grammar import Grammar
from ematix_flow.sqltext.type_names import type_name

_ROWS = "g"
_SEPARATOR = f"'{PART_SEPARATOR}'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A query of the target's database, and the columns of its result.

    :param judged: Whether a row of it may break a rule.
    """

    sql: str
    table: Table
    judged: bool


def selection(
    wanted: Wanted, contract: Contract, described: Sequence[ActualColumn], describe: Describe
) -> Selection:
    """Return the query for what *wanted* stages; Unproven where that is Spark's to do.

    :param described: The columns of the query, as the database describes it.
    :param describe: Has the database describe another query.
    """
    rows = given_rows(wanted, described, describe)
    return _Writer(wanted, contract, rows).selection()


@dataclass
class _Writer:
    wanted: Wanted
    contract: Contract
    rows: GivenRows

    @cached_property
    def _grammar(self) -> Grammar:
        return Grammar(self.wanted.dialect)

    def selection(self) -> Selection:
        staged = self.wanted.layout.staging
        outputs = {column.name: self._output(column) for column in staged.columns}
        faults = [(rule, found) for rule in self.contract.rules if (found := self._fault(rule))]
        source = self.rows.sql
        verdict: tuple[Column, ...] = ()
        if faults:
            rule = self._grammar.name(RULE_COLUMN)
            verdict = (
                Column(name=RULE_COLUMN, type=SmallInt(), nullable=True),
                Column(name=VALUE_COLUMN, type=Text(), nullable=True),
            )
            broken = " ".join(f"WHEN {breaks} THEN {each.number}" for each, breaks in faults)
            source = f"SELECT {_ROWS}.*, CASE {broken} END AS {rule} FROM ({source}) AS {_ROWS}"  # noqa: S608
            shown = " ".join(f"WHEN {each.number} THEN {self._shown(each)}" for each, _ in faults)
            outputs[RULE_COLUMN] = f"{_ROWS}.{rule}"
            outputs[VALUE_COLUMN] = f"CASE {_ROWS}.{rule} {shown} END"
        listed = ", ".join(f"{sql} AS {self._grammar.name(name)}" for name, sql in outputs.items())
        return Selection(
            sql=f"SELECT {listed} FROM ({source}) AS {_ROWS}",  # noqa: S608  # quoted
            table=Table(
                name=staged.name,
                columns=(*staged.columns, *verdict),
                location=staged.location,
                merge_keys=staged.merge_keys,
            ),
            judged=bool(faults),
        )

    # Values ------------------------------------------------------------------------------------

    def _output(self, column: Column) -> str:
        match column.name:
            case name if name in self.wanted.layout.given:
                return self._converted(column.name).value
            case name if name == DELETED:
                return self._raw(DELETED)
            case name if name == SEQUENCE:
                parts = [self._order_part(name) for name in self.wanted.layout.order]
                return self._joined(parts, _SEPARATOR)
            case name if name == AT:
                return self._beginning(column.type)
            case name if name == CURSOR:
                return self._cursor()
            case name:
                raise AssertionError(name)

    def _raw(self, name: str) -> str:
        return self._grammar.column(_ROWS, name)

    def _converted(self, name: str) -> Converted:
        kind = self.wanted.layout.column(name).type
        return converted(self._raw(name), self.rows.kinds[name], kind, name, self.wanted.dialect)

    def _ordering(self, name: str) -> tuple[str, DataType | None]:
        """Return an order column as it will be stored, or as it came, and what it is."""
        given = given_name(self.wanted.layout, name)
        if given is not None:
            return self._converted(given).value, self.wanted.layout.column(given).type
        carried = foreign_order(self.wanted.layout)[name]
        return self._carried(carried, name)

    def _carried(self, carried: str, name: str) -> tuple[str, DataType | None]:
        """Return a column that does not reach the target, in its own type."""
        kind = self.rows.kinds[carried]
        cursor_kind(kind, name)
        assert kind is not None
        plain = Text() if isinstance(kind, String) else kind
        return converted(self._raw(carried), kind, plain, name, self.wanted.dialect).value, plain

    def _order_part(self, name: str) -> str:
        value, kind = self._ordering(name)
        return order_text(value, kind, name, self.wanted.dialect)

    def _beginning(self, wanted: DataType) -> str:
        name = self.wanted.layout.order[0]
        value, kind = self._ordering(name)
        if kind == wanted:
            return value
        times = (Date, Timestamp, TimestampTZ)
        whole = self._wider_whole(kind, wanted)
        if not whole and not (isinstance(kind, times) and isinstance(wanted, times[1:])):
            raise Unproven(f"Spark makes the beginning of a version ({wanted}) of {name} ({kind})")
        if self.wanted.dialect == "sqlite":
            assert kind is not None
            return moved(value, kind, wanted)
        if is_mysql(self.wanted.dialect):
            return value
        return f"CAST({value} AS {type_name(wanted, self.wanted.dialect)})"

    def _wider_whole(self, kind: DataType | None, wanted: DataType) -> bool:
        return kind is not None and 0 < _bits(kind) <= _bits(wanted)

    def _cursor(self) -> str:
        name = self.wanted.cursor or CURSOR
        value, kind = self._carried(CURSOR, name)
        tag = f"'{cursor_kind(kind, name).value}:'"
        return self._joined([tag, order_text(value, kind, name, self.wanted.dialect)])

    def _joined(self, texts: Sequence[str], separator: str | None = None) -> str:
        if len(texts) == 1:
            return texts[0]
        spread = [texts[0]]
        for each in texts[1:]:
            spread += [separator, each] if separator else [each]
        return self._grammar.joined(*spread)

    # Rules -------------------------------------------------------------------------------------

    def _fault(self, rule: Rule) -> str | None:
        """Return the condition under which a row breaks *rule*; None where no row can."""
        if rule.sets_aside:
            raise Unproven(f"{rule.marker} on {rule.column} sets rows aside, which Spark does")
        breaks = self._breaks(rule)
        if breaks is None or self.contract.holds_for_deletions(rule):
            return breaks
        return f"({breaks}) AND NOT {self._raw(DELETED)}"

    def _breaks(self, rule: Rule) -> str | None:
        match rule.kind:
            case RuleKind.MARKER:
                return f"{self._raw(rule.flag)} IS NOT NULL"
            case RuleKind.NOT_NULL:
                return f"{self._raw(rule.column)} IS NULL"
            case RuleKind.TYPE:
                return self._converted(rule.column).breaks
            case RuleKind.LENGTH:
                assert isinstance(rule.type, String)  # what holds texts inside is Spark's
                return f"{self._length(rule.column)} > {rule.type.length}"
            case RuleKind.STORABLE:
                return self._unstorable(rule)
            case RuleKind.ORDER:
                return f"{self._order_part(rule.column)} IS NULL"
            case RuleKind.BEGINNING:
                return f"{self._beginning(rule.type)} IS NULL"
            case RuleKind.CURSOR:
                return f"{self._cursor()} IS NULL"
            case _:
                raise Unproven(f"{rule.column}: only Spark knows the rule {rule.kind.value!r}")

    def _length(self, name: str) -> str:
        call = SQLITE_LENGTH if self.wanted.dialect == "sqlite" else "char_length"
        if self.wanted.dialect == "duckdb":
            call = "length"  # of characters, not of what they look like
        return f"{call}({self._raw(name)})"

    def _unstorable(self, rule: Rule) -> str | None:
        # What a database has no value for, its own query does not return; a year 0 is MySQL's.
        if is_mysql(self.wanted.dialect) and rule.unstorable is Unstorable.LONG_YEAR:
            return f"YEAR({self._raw(rule.column)}) NOT BETWEEN 1 AND 9999"
        return None

    def _shown(self, rule: Rule) -> str:
        """Return the offending value as text."""
        text = "CHAR" if is_mysql(self.wanted.dialect) else "TEXT"
        match rule.kind:
            case RuleKind.MARKER:
                return f"CAST({self._raw(rule.flag)} AS {text})"
            case RuleKind.ORDER | RuleKind.BEGINNING:
                given = given_name(self.wanted.layout, rule.column)
                name = given or foreign_order(self.wanted.layout)[rule.column]
                return f"CAST({self._raw(name)} AS {text})"
            case RuleKind.CURSOR:
                return f"CAST({self._raw(CURSOR)} AS {text})"
            case _:
                return f"CAST({self._raw(rule.column)} AS {text})"


def _bits(kind: DataType) -> int:
    return WHOLE_BITS.get(type(kind), 0)
