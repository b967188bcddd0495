"""What the targets themselves say has landed."""

from __future__ import annotations

from collections.abc import Sequence

from ematix_flow.engine.batch.groups import by_target
from ematix_flow.engine.runs.context import RunContext
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import LedgerEntry
from ematix_flow.sqltext.bookkeeping import LEDGER, bookkeeping
from ematix_flow.write.ledger import entry_of_run, last_commit


def commits(plan: Plan) -> tuple[Commit, ...]:
    """Return the commit of each target."""
    return tuple(each.commit for each in by_target(plan.steps).targets)


def landed_runs(pipeline: str, context: RunContext, plan: Plan, run_ids: Sequence[str]) -> set[str]:
    """Return which runs have landed in every target, as the targets say."""
    landed = set(run_ids)
    for step in commits(plan):
        target = context.target(step.connection)
        if not target.exists():
            return set()
        sql, name = bookkeeping(target.dialect), str(step.target)
        with target.open_read_only() as session:
            landed = {
                run_id
                for run_id in landed
                if entry_of_run(session, sql, pipeline, name, run_id) is not None
            }
    return landed


def watermarks(pipeline: str, context: RunContext, plan: Plan) -> tuple[str | None, ...]:
    """Return how far each target has come, as the targets say."""
    return tuple(_watermark(pipeline, context, step) for step in commits(plan))


def _watermark(pipeline: str, context: RunContext, step: Commit) -> str | None:
    target = context.target(step.connection)
    if not target.exists():
        return None
    with target.open_read_only() as session:
        columns = session.columns(LEDGER.name)
        if columns is None:
            return None
        known = [each.name for each in columns]
        sql = bookkeeping(target.dialect)
        last = last_commit(session, sql, pipeline, str(step.target), known)
    return last.watermark if last else None


def ledger_entry(
    context: RunContext, step: Commit, pipeline: str, run_id: str
) -> LedgerEntry | None:
    """Ask the target whether a run has committed."""
    target = context.target(step.connection)
    if not target.exists():
        return None
    sql = bookkeeping(target.dialect)
    with target.open_read_only() as session:
        return entry_of_run(session, sql, pipeline, str(step.target), run_id)
