"""Empty tables for what is not there yet, so that a dry run has something to count against.

They have names of their own, so no run meets them. They are the session's alone and go with it;
but MySQL cannot name a temporary table twice in a statement, so there they are ordinary ones, and
what a dry run that was killed has left of them is swept with what was left in staging.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from ematix_flow.plan.steps import Commit
from ematix_flow.ports import TargetSession
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.ddl import create_table, drop_table
from ematix_flow.sqltext.dialect_names import is_mysql
from ematix_flow.sqltext.program import write_program
from ematix_flow.sqltext.program.companion import companion_of
from ematix_flow.sqltext.program.work import dry_prefix


def as_meant(text: str, pipeline: str, target: TableName) -> str:
    """Return *text* with the name of *target*, where a database tells of what stood in for it."""
    return str(target).join(re.split(rf"{dry_prefix(pipeline, target)}[0-9a-f]+_\d", text))


@contextmanager
def standing_in(
    session: TargetSession, step: Commit, dialect: str, pipeline: str
) -> Iterator[Commit]:
    """Create what is missing of the tables that *step* writes; give the step that writes those."""
    missing = [table for table in _written(step) if session.columns(table.name) is None]
    # Without a schema: that of the target may not be there either.
    own = f"{dry_prefix(pipeline, step.target)}{secrets.token_hex(3)}"
    names = {table.name: TableName(name=f"{own}_{number}") for number, table in enumerate(missing)}
    stays = is_mysql(dialect)
    try:
        for table in missing:
            name = names[table.name]
            session.execute(create_table(table, name, dialect, temporary=not stays))
        program = write_program(
            step.layout, step.target, dialect, pipeline=pipeline, dry=True, stand_ins=names
        )
        yield replace(step, program=program)
    finally:
        for name in names.values() if stays else ():
            # What failed matters, not whether tidying up after it does: the next run sweeps.
            with suppress(Exception):
                session.execute(drop_table(name, dialect))


def _written(step: Commit) -> Iterator[Table]:
    """Give the tables that a commit writes, as they are called there."""
    yield replace(step.layout.table, name=step.target)
    companion = companion_of(step.layout, step.target)
    if companion is not None:
        yield companion
