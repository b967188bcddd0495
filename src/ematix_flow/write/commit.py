"""The one commit: fence, write program and ledger row land together or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ematix_flow.errors import TargetError
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import StagedRows, Target
from ematix_flow.sqltext.bookkeeping import bookkeeping
from ematix_flow.sqltext.program import STAGING, Effect
from ematix_flow.write.fence import hold_fence
from ematix_flow.write.ledger import entry_of_run, write_entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What a commit changed."""

    inserted: int
    deleted: int
    replayed: bool = False


def commit(
    step: Commit,
    target: Target,
    staged: StagedRows,
    *,
    pipeline: str,
    run_id: str,
    token: int,
    now: datetime,
) -> Committed:
    """Apply the staged rows. Safe to call again for the same run: the ledger then answers."""
    sql = bookkeeping(target.dialect)
    name = str(step.target)
    with target.open() as session:
        session.show_staging(staged, step.table, STAGING)
        with session.transaction():
            hold_fence(session, sql, pipeline, token)
            done = entry_of_run(session, sql, pipeline, name, run_id)
            if done is not None:
                return Committed(
                    inserted=done.rows_inserted, deleted=done.rows_deleted, replayed=True
                )
            counts = dict.fromkeys(Effect, 0)
            for statement in step.program:
                counts[statement.effect] += session.execute(statement.sql)
            if counts[Effect.INSERTED] != staged.rows:
                raise TargetError(
                    f"{name} took {counts[Effect.INSERTED]:,} rows, but {staged.rows:,} were "
                    "staged; the load was rolled back",
                    hint="is there a trigger or rule on the table that drops rows?",
                )
            write_entry(
                session,
                sql,
                pipeline=pipeline,
                target=name,
                run_id=run_id,
                inserted=counts[Effect.INSERTED],
                deleted=counts[Effect.DELETED],
                now=now,
            )
    return Committed(inserted=counts[Effect.INSERTED], deleted=counts[Effect.DELETED])
