"""Showing a load its rows: those that were staged, or those that its own database selects now."""

from __future__ import annotations

from dataclasses import replace

from ematix_flow.plan.steps import Commit
from ematix_flow.ports import BrokenRow, StagedQuery, StagedRows, TargetSession
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN
from ematix_flow.sqltext.program.grammar import Grammar
from ematix_flow.write.staging import refuse_broken
from ematix_flow.write.staging_table import naming_columns
from ematix_flow.write.staging_task import SAMPLES, named_row


def show_rows(session: TargetSession, staged: StagedRows, step: Commit, dialect: str) -> StagedRows:
    """Make the rows visible to SQL; return them counted.

    A query runs here once, so that every statement of the program sees the same rows, and those
    that break a rule stop the load as they would on Spark.
    """
    relation = step.program.staging
    if staged.query is None:
        session.show_staging(staged, step.layout.staging, relation)
        return staged
    session.show_staging(staged, staged.query.table, relation)
    return replace(staged, rows=_judged(session, staged.query, relation, Grammar(dialect)))


def _judged(session: TargetSession, query: StagedQuery, relation: str, grammar: Grammar) -> int:
    rows, rule = grammar.name(relation), grammar.name(RULE_COLUMN)
    counted = f"count({rule})" if query.judged else "0"
    [(all_rows, bad)] = session.fetch(f"SELECT count(*), {counted} FROM {rows}")  # noqa: S608
    total, broken = int(str(all_rows)), int(str(bad))
    if broken:
        keys = naming_columns(query.contract)
        wanted = grammar.names((*keys, RULE_COLUMN, VALUE_COLUMN))
        found = session.fetch(
            f"SELECT {wanted} FROM {rows} WHERE {rule} IS NOT NULL LIMIT {SAMPLES}"  # noqa: S608
        )
        samples = tuple(
            BrokenRow(
                row=named_row(dict(zip(keys, key, strict=True)), keys),
                rule=int(str(number)),
                value=None if value is None else str(value),
            )
            for *key, number, value in found
        )
        refuse_broken(broken, samples, total, query.contract)
    return total
