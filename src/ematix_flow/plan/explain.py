"""Steps, told to people."""

from __future__ import annotations

from typing import assert_never

from ematix_flow.plan.steps import (
    CallFunction,
    Commit,
    Normalize,
    Prepare,
    ReadQuery,
    ReadRelation,
    Stage,
    Step,
    Transform,
    Validate,
)
from ematix_flow.sqltext.markers import describe as markers


def describe(step: Step) -> str:  # noqa: C901  # one case per step
    """Say in one line what a step does."""
    match step:
        case Prepare(connection=connection, destructive=destructive):
            also = "; CHANGE COLUMNS, WITH LOSS" if destructive else ""
            return f"create what is missing in {connection}, take the fence{also}"
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
            called = getattr(pipeline.function, "__name__", pipeline.name)  # a partial has none
            return f"call {called}({names}) at {pipeline.location}"
        case Normalize(table=table):
            marked = (column for column in table.columns if column.markers)
            return "clean " + "; ".join(f"{column.name}: {markers(column)}" for column in marked)
        case Validate(contract=contract):
            return f"check {len(contract.rules)} rules of {contract.table.name} in the same pass"
        case Stage():
            return "run the job into staging; the target is untouched"
        case Commit(mode=mode, target=target):
            return f"{mode.value} into {target} with its ledger row, in one transaction"
        case _:
            assert_never(step)


def statements(step: Step) -> tuple[str, ...]:
    """Return the SQL a step runs."""
    match step:
        case Prepare(ddl=ddl, destructive=destructive, optional=optional):
            left_out = (f"-- only with --allow-destructive: {each}" for each in optional)
            return (*ddl, *destructive, *left_out)
        case ReadQuery(query=query) | Transform(query=query):
            return (query,)
        case Commit(program=program):
            return tuple(statement.sql for statement in program)
        case ReadRelation() | CallFunction() | Normalize() | Validate() | Stage():
            return ()
        case _:
            assert_never(step)
