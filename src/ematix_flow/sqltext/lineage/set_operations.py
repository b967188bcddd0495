"""UNION, INTERSECT and EXCEPT: two queries' columns into one's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ematix_flow.sqltext.lineage.relation import Output, Relation
from ematix_flow.sqltext.lineage.trace import merged

if TYPE_CHECKING:
    from ematix_flow.sqltext.lineage.reader import Reader


def combined(
    reader: Reader, operation: exp.SetOperation, left: Relation, right: Relation
) -> Relation:
    """Return the columns of a set operation; rows that EXCEPT takes away only decide."""
    if isinstance(operation, exp.Except):
        reader.influence(merged(each.trace for each in right.outputs), "filter")
        outputs, tables = left.outputs, left.tables
    else:
        by_name = operation.args.get("by_name")
        outputs = (_by_name if by_name else _by_position)(left.outputs, right.outputs)
        tables = tuple(dict.fromkeys((*left.tables, *right.tables)))
    if operation.args.get("distinct"):
        reader.influence(merged(each.trace for each in outputs), "group_by")
    return Relation(alias="", outputs=outputs, tables=tables)


def _by_position(left: tuple[Output, ...], right: tuple[Output, ...]) -> tuple[Output, ...]:
    if any(each.all_of for each in (*left, *right)) or len(left) != len(right):
        gap = "a set operation pairs columns by position, and not all of them are known"
        return tuple(each.lacking(gap) for each in left)
    return tuple(map(_both, left, right))


def _by_name(left: tuple[Output, ...], right: tuple[Output, ...]) -> tuple[Output, ...]:
    others = {each.key: each for each in right if not each.all_of}
    paired = [_both(each, others.pop(each.key)) if each.key in others else each for each in left]
    unknown = [each for each in right if each.all_of]
    return (*paired, *others.values(), *unknown)


def _both(left: Output, right: Output) -> Output:
    return replace(left, trace=merged((left.trace, right.trace)))
