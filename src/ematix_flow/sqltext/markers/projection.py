"""A table's markers as projections, one after the other.

A marker that uses its value several times gets the value as a bare column from the
projection before: put into one expression, a chain of such markers would grow by their
product. Markers that use it once are put into each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from ematix_flow.spec.contract import Contract, Rule
from ematix_flow.spec.normalize.chain import chain
from ematix_flow.spec.normalize.expression import derives
from ematix_flow.spec.normalize.family import Family
from ematix_flow.spec.normalize.marker import Fallible, Marker
from ematix_flow.spec.table import Column, Table
from ematix_flow.sqltext.identifiers import column as column_node
from ematix_flow.sqltext.markers.nodes import (
    Node,
    Template,
    case,
    cast,
    is_not_null,
    is_null,
    literal,
)
from ematix_flow.sqltext.markers.order import in_order, reads
from ematix_flow.sqltext.markers.templates import templates

Outputs = dict[str, Node]


@dataclass(frozen=True, slots=True)
class Projection:
    """The columns of one SELECT over the one before, by name."""

    outputs: Outputs


def projections(table: Table, given: Mapping[str, Family] | None = None) -> tuple[Projection, ...]:
    """Return the projections that apply all markers of *table*; none where it has none.

    The first reads the query's columns under their declared names. The last gives the declared
    columns and, for each rule on a marker, what could not be read (see `Rule.flag`).

    :param given: The family of what the query returns, where a marker takes more than one.
    """
    contract = Contract.of(table)
    works: dict[str, _ColumnWork] = {}
    ends: dict[str, int] = {}
    begins: dict[str, int] = {}
    for number, each in enumerate(in_order(table.columns)):
        begins[each.name] = max((ends[name] for name in reads(each, table.columns)), default=0)
        works[each.name] = _ColumnWork(table, each, number, contract.rules_on(each.name))
        works[each.name].apply(_first_family(each, given or {}))
        ends[each.name] = begins[each.name] + len(works[each.name].stages)
    stages = [_stage(table, works, begins, number) for number in range(max(ends.values()))]
    return _without_unread(stages, table, contract)


def _first_family(column: Column, given: Mapping[str, Family]) -> Family | None:
    accepted = chain(column.markers, column.type).accepts
    if column.name in given:
        return given[column.name]
    return next(iter(accepted)) if len(accepted) == 1 else None


def _stage(
    table: Table, works: Mapping[str, _ColumnWork], begins: Mapping[str, int], number: int
) -> Outputs:
    """Return what one projection would give if nothing were left out."""
    outputs: Outputs = {}
    helpers: Outputs = {}
    for each in table.columns:
        work, local = works[each.name], number - begins[each.name]
        past = {name: column_node(name) for stage in work.stages[: max(local, 0)] for name in stage}
        now = work.stages[local] if 0 <= local < len(work.stages) else {}
        if each.name in now:
            outputs[each.name] = now[each.name]
        elif each.name in past or not derives(each.markers):
            outputs[each.name] = column_node(each.name)
        helpers |= {name: node for name, node in (past | now).items() if name != each.name}
    return outputs | helpers


def _without_unread(
    stages: list[Outputs], table: Table, contract: Contract
) -> tuple[Projection, ...]:
    """Leave out the helping columns that nothing after them reads."""
    wanted = {each.name for each in table.columns} | {rule.flag for rule in contract.on_markers}
    kept: list[Projection] = []
    for outputs in reversed(stages):
        outputs = {name: node for name, node in outputs.items() if name in wanted}  # noqa: PLW2901
        kept.append(Projection(outputs))
        wanted = {
            each.parts[0].name for node in outputs.values() for each in node.find_all(exp.Column)
        }
    return tuple(reversed(kept))


@dataclass(slots=True)
class _ColumnWork:
    """The projections of one column, being put together."""

    table: Table
    column: Column
    number: int
    rules: tuple[Rule, ...]
    stages: list[Outputs] = field(default_factory=list)
    _value: Node = field(init=False)
    _now: Outputs = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._value = column_node(self.column.name)

    @property
    def _original(self) -> str:
        return f"_flow_original_{self.number}"

    @property
    def _given(self) -> str:
        return f"_flow_given_{self.number}"

    def apply(self, family: Family | None) -> None:
        """Apply all markers, beginning with values of *family*."""
        rules = iter(self.rules)
        if self.rules:
            self._now[self._original] = cast(self._value, "text")
        for marker in self.column.markers:
            watched = _watched(marker)
            if watched:
                self._make_bare()
                self._now[self._given] = is_not_null(self._value)
            for template in self._templates(marker, family):
                self._step(template)
            if watched:
                self._watch(watched, next(rules) if watched.reports else None)
            family = _next_family(marker, family)
        self._make_bare()
        if self._now:
            self._close()

    def _templates(self, marker: Marker, family: Family | None) -> tuple[Template, ...]:
        names = [each.name for each in self.table.columns]
        return templates(marker, self.column, family or Family.OTHER, names)

    def _step(self, template: Template) -> None:
        probe = exp.Placeholder(this="value")
        uses = sum(node == probe for node in template(probe).find_all(exp.Placeholder))
        if uses > 1:
            self._make_bare()
        self._value = template(self._value)

    def _watch(self, marker: Fallible, rule: Rule | None) -> None:
        """Say what happens to a value that was given and became NULL."""
        self._close()
        failed = exp.and_(column_node(self._given), is_null(self._value))
        if rule is not None:
            self._now[rule.flag] = case((failed, column_node(self._original)))
        else:
            self._value = case((failed, literal(marker.default)), otherwise=self._value)

    def _make_bare(self) -> None:
        if not isinstance(self._value, exp.Column):
            self._close()

    def _close(self) -> None:
        self.stages.append({**self._now, self.column.name: self._value})
        self._now = {}
        self._value = column_node(self.column.name)


def _watched(marker: Marker) -> Fallible | None:
    """Return the marker where something follows from its failing, beside NULL."""
    if isinstance(marker, Fallible) and (marker.reports or marker.default is not None):
        return marker
    return None


def _next_family(marker: Marker, family: Family | None) -> Family | None:
    before = frozenset({family}) if family else frozenset(Family)
    after = marker.gives(before)
    return next(iter(after)) if len(after) == 1 else None
