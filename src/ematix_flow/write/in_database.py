"""Showing a load its rows: those that were staged, or those that its own database selects now."""

from __future__ import annotations

from ematix_flow.plan.steps import Commit
from ematix_flow.ports import BrokenRow, CountedRows, StagedQuery, TargetSession
from ematix_flow.spec.named_row import named_row, naming_columns
from ematix_flow.sqltext.in_database.verdict import Verdict
from ematix_flow.write.staging import refuse_broken
from ematix_flow.write.staging_task import SAMPLES


def show_rows(
    session: TargetSession, staged: CountedRows | StagedQuery, step: Commit, dialect: str
) -> int:
    """Make the rows visible to SQL, and return how many there are.

    A query runs here once, so that every statement of the program sees the same rows, and those
    that break a rule stop the load as they would on Spark.
    """
    relation = step.program.staging
    if isinstance(staged, StagedQuery):
        session.show_staging(staged, staged.table, relation)
        verdict = Verdict(relation=relation, dialect=dialect, judged=staged.judged)
        return _judged(session, staged, verdict)
    session.show_staging(staged, step.layout.staging, relation)
    return staged.rows


def _judged(session: TargetSession, query: StagedQuery, verdict: Verdict) -> int:
    [(all_rows, bad)] = session.fetch(verdict.counts)
    total, broken = int(str(all_rows)), int(str(bad))
    if broken:
        keys = naming_columns(query.contract.table)
        samples = tuple(
            BrokenRow(
                row=named_row(zip(keys, key, strict=True)),
                rule=int(str(number)),
                value=None if value is None else str(value),
            )
            for *key, number, value in session.fetch(verdict.samples(keys, SAMPLES))
        )
        refuse_broken(broken, samples, total, query.contract)
    return total
