"""A plan, told to people and to programs."""

from __future__ import annotations

from typing import assert_never

from ematix_flow.plan.steps import (
    Commit,
    Plan,
    Prepare,
    ReadQuery,
    ReadRelation,
    Stage,
    Step,
    Transform,
    Validate,
)


def describe(step: Step) -> str:
    """Say in one line what a step does."""
    match step:
        case Prepare(connection=connection):
            return f"create what is missing in {connection}, take the fence"
        case ReadRelation(connection=connection, relation=relation, facts=facts):
            return f"read {relation} from {connection} ({facts.description})"
        case ReadQuery(connection=connection, facts=facts):
            return f"run the query in {connection} ({facts.description})"
        case Transform():
            return "run the query on Spark"
        case Validate(contract=contract):
            return f"check {len(contract.rules)} rules of {contract.table.name} in the same pass"
        case Stage():
            return "run the job into staging; the target is untouched"
        case Commit(mode=mode, target=target):
            return f"{mode.value} into {target} with its ledger row, in one transaction"
        case _:
            assert_never(step)


def plan_text(plan: Plan, *, sql: bool = False) -> str:
    """Return the plan as text; *sql* adds every statement."""
    last = plan.last_commit or "never"
    lines = [
        f"{plan.pipeline}  ({plan.location})",
        f"  {plan.source_connection} -> {plan.target_connection}.{plan.target}  mode {plan.mode}",
        f"  path {plan.path}: {plan.path_why}",
        f"  target {'exists' if plan.target_exists else 'will be created'}, last commit {last}",
    ]
    for number, step in enumerate(plan.steps, start=1):
        lines.append(f"  {number}. {step.name:<9} {describe(step)}")
        if sql:
            lines += [f"       {line}" for text in statements(step) for line in text.splitlines()]
    lines += [f"  note: {remark}" for remark in plan.remarks]
    return "\n".join(lines)


def plan_json(plan: Plan) -> dict[str, object]:
    """Return the plan as stable data."""
    return {
        "pipeline": plan.pipeline,
        "location": plan.location,
        "mode": plan.mode.value,
        "source_connection": plan.source_connection,
        "target_connection": plan.target_connection,
        "target": plan.target,
        "target_exists": plan.target_exists,
        "last_commit": plan.last_commit,
        "path": plan.path,
        "path_why": plan.path_why,
        "connectors": list(plan.connectors),
        "input_bytes": plan.input_bytes,
        "steps": [
            {"step": step.name, "description": describe(step), "sql": list(statements(step))}
            for step in plan.steps
        ],
        "remarks": list(plan.remarks),
    }


def statements(step: Step) -> tuple[str, ...]:
    """Return the SQL a step runs."""
    match step:
        case Prepare(ddl=ddl):
            return ddl
        case ReadQuery(query=query) | Transform(query=query):
            return (query,)
        case Commit(program=program):
            return tuple(statement.sql for statement in program)
        case ReadRelation() | Validate() | Stage():
            return ()
        case _:
            assert_never(step)
