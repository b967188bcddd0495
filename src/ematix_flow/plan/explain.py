"""Steps, told to people."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from ematix_flow.plan.steps import (
    Arrange,
    CallAfter,
    CallFunction,
    Carry,
    Commit,
    Normalize,
    Prepare,
    PreTransform,
    ReadQuery,
    ReadRelation,
    Reshape,
    Restrict,
    RunAfter,
    SelectInTarget,
    Stage,
    Step,
    Transform,
    Validate,
)
from ematix_flow.spec.transform import (
    DeduplicateBy,
    FilterWhere,
    FunctionStep,
    Limit,
    SamplePct,
    SqlStep,
)
from ematix_flow.sqltext.markers import describe as markers


def describe(step: Step) -> str:  # noqa: C901, PLR0912  # one case per step
    """Say in one line what a step does."""
    match step:
        case Prepare(connection=connection, destructive=destructive):
            also = "; CHANGE COLUMNS, WITH LOSS" if destructive else ""
            return f"create what is missing in {connection}{also}"
        case ReadRelation(connection=connection, relation=relation, facts=facts):
            return f"read {relation} from {connection} ({facts.description})"
        case ReadQuery(connection=connection, facts=facts, known_as=None):
            return f"run the query in {connection} ({facts.description})"
        case ReadQuery(connection=connection, facts=facts, known_as=name):
            return f"read {name} from {connection} ({facts.description})"
        case Transform():
            return "run the query on Spark"
        case CallFunction(pipeline=pipeline, arguments=arguments):
            names = ", ".join(argument.name for argument in arguments)
            called = called_name(pipeline.function, pipeline.name)
            return f"call {called}({names}) at {pipeline.location}"
        case Restrict(window=window):
            return f"keep {window}"
        case Reshape(change=change):
            return reshaped(change)
        case Arrange():
            return _arranged(step)
        case Normalize(table=table):
            marked = (column for column in table.columns if column.markers)
            return "clean " + "; ".join(f"{column.name}: {markers(column)}" for column in marked)
        case Validate(contract=contract):
            return f"check {len(contract.rules)} rules of {contract.table.name} in the same pass"
        case Stage():
            return "run the job into staging; the target is untouched"
        case Carry(read=read, connection=connection):
            return f"{describe(read)}, carry its rows into {connection}"
        case SelectInTarget():
            return _selected(step)
        case Commit(layout=layout, target=target):
            return f"{layout.mode.value} into {target} with its ledger row, in one transaction"
        case RunAfter(connection=connection, label=label):
            return f"run {label} in {connection}, in a transaction of its own"
        case CallAfter(function=function):
            return f"call {called_name(function)} after the commit"
        case _:
            assert_never(step)


def statements(step: Step) -> tuple[str, ...]:
    """Return the SQL a step runs."""
    match step:
        case Prepare(ddl=ddl, destructive=destructive, optional=optional):
            left_out = (f"-- only with --allow-destructive: {each}" for each in optional)
            return (*ddl, *destructive, *left_out)
        case ReadQuery(query=query) | Transform(query=query) | Carry(read=ReadQuery(query=query)):
            return (query,)
        case SelectInTarget(selection=selection):
            return (selection.sql,)
        case Commit(program=program):
            return tuple(statement.sql for statement in program.statements)
        case RunAfter(sql=sql):
            return sql
        case Reshape(change=SqlStep(sql=sql)):
            return (sql,)
        case _:
            return ()


def _selected(step: SelectInTarget) -> str:
    table = step.contract.table.name
    parts = [] if step.is_settled else [describe(step.read)]
    parts += (text for each in step.shaping if (text := describe(each)))
    return "; ".join((*parts, f"check {len(step.contract.rules)} rules of {table} there"))


def _arranged(step: Arrange) -> str:
    parts = [f"{old} is {new}" for old, new in step.column_map]
    if step.deletes is not None:
        parts.append(f"rows with {step.deletes} delete their key")
    if step.layout.order:
        parts.append(f"rows are ordered by {', '.join(step.layout.order)}")
    if step.cursor is not None:
        parts.append(f"{step.cursor} says how far the load has come")
    return "; ".join(parts)


def reshaped(change: PreTransform) -> str:
    """Say in one line what a step before the load does to the rows."""
    match change:
        case DeduplicateBy(keys=keys, order_by=order_by):
            return f"keep one row per {', '.join(keys)}: the first by {order_by}"
        case FilterWhere(condition=condition):
            return f"keep rows with {condition}"
        case Limit(rows=rows):
            return f"keep at most {rows:,} rows"
        case SamplePct(percent=percent, seed=seed):
            return f"keep about {percent:g} % of the rows (seed {seed})"
        case SqlStep():
            return "run SQL on Spark over the rows, as `source`"
        case FunctionStep(function=function):
            return f"call {called_name(function)} with the rows"


def called_name(function: Callable[..., object], otherwise: str = "a function") -> str:
    """Return a function's name; a partial has none."""
    name: str = getattr(function, "__name__", otherwise)
    return name
