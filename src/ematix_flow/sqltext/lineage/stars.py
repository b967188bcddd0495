"""What `*` and `t.*` stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ematix_flow.sqltext.lineage.names import written
from ematix_flow.sqltext.lineage.relation import Output
from ematix_flow.sqltext.lineage.scope import Scope
from ematix_flow.sqltext.lineage.trace import Trace, computed, unknown
from ematix_flow.sqltext.lineage.values import trace

if TYPE_CHECKING:
    from ematix_flow.sqltext.lineage.reader import Reader


def expanded(reader: Reader, scope: Scope, node: exp.Expr) -> list[Output]:
    """Return the columns of a star, without its EXCEPTs, with its REPLACEs and RENAMEs."""
    star = node if isinstance(node, exp.Star) else node.this
    left_out = {_name(reader, each) for each in star.args.get("except_") or ()}
    changed = {
        **{_name(reader, each.args["alias"]): each for each in star.args.get("replace") or ()},
        **{_name(reader, each.this): each for each in star.args.get("rename") or ()},
    }
    columns: list[Output] = []
    for output in _all(reader, scope, node):
        if output.all_of:
            columns.append(replace(output, without=output.without | left_out | changed.keys()))
        elif output.key in changed:
            columns.append(_aliased(reader, scope, changed.pop(output.key)))
        elif output.key not in left_out:
            columns.append(output)
    # What is changed by name is there, even where the columns of the table are not known.
    return columns + [_aliased(reader, scope, each) for each in changed.values()]


def _aliased(reader: Reader, scope: Scope, node: exp.Expr) -> Output:
    alias = node.args["alias"]
    return Output(name=alias.name, key=reader.names.key(alias), trace=trace(reader, scope, node))


def _name(reader: Reader, node: exp.Expr) -> str:
    """Return the key of a name that stands as a column or as a bare identifier."""
    return reader.names.key(node.this if isinstance(node, exp.Column) else node)


def _all(reader: Reader, scope: Scope, node: exp.Expr) -> tuple[Output, ...]:
    if isinstance(node, exp.Star):
        return scope.outputs()
    *path, _ = node.parts if isinstance(node, exp.Column) else (node,)
    keys = tuple(reader.names.key(part) for part in path)
    for relation in scope.relations.values():
        if keys and (keys == (relation.alias,) or relation.path[-len(keys) :] == keys):
            return relation.outputs
    return (Output(name="*", key="*", trace=_fields(reader, scope, node, path)),)


def _fields(reader: Reader, scope: Scope, node: exp.Expr, path: Sequence[exp.Expr]) -> Trace:
    """Return the trace of `owner.*`, the fields of a struct: of its column, their names unknown."""
    gap = f"what {written(node, reader.dialect)} stands for is not known"
    if not path:
        return unknown(gap)
    column = scope.resolve([(part.name, reader.names.key(part)) for part in path], "last")
    return computed((column.with_gaps((gap,)),), aggregate=False)
