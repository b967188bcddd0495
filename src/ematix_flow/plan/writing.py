"""The steps on the target: what is created or changed before, and the one commit."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ematix_flow.errors import NotSupported
from ematix_flow.plan.diff import SchemaDiff, compare
from ematix_flow.plan.drift import DriftDecision, resolve_drift
from ematix_flow.plan.steps import Commit, Prepare
from ematix_flow.ports import StateReader, TargetFacts
from ematix_flow.resolve.keys import merge_keys
from ematix_flow.spec.pipeline import Pipeline, TargetSpec
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.bookkeeping import bookkeeping
from ematix_flow.sqltext.ddl import create_schema, create_table
from ematix_flow.sqltext.identifiers import physical_name
from ematix_flow.sqltext.program import write_program
from ematix_flow.sqltext.type_names import notes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What happens to one target.

    :param destructive: The changes that need consent, in words.
    :param notes: What was chosen for this database and is not obvious.
    """

    prepare: Prepare
    commit: Commit
    facts: TargetFacts
    diff: SchemaDiff | None
    destructive: tuple[str, ...]
    notes: tuple[str, ...]


def plan_writing(
    pipeline: Pipeline, target: TargetSpec, table: Table, dialect: str, state: StateReader
) -> Writing:
    """Compare the target with its declaration, and say what to do about it."""
    name = physical_name(table.name, dialect)
    facts = state.target(target.connection, name, pipeline.name)
    table = _as_written(table, target)
    try:
        create = create_table(table, name, dialect)
    except NotSupported as error:
        raise NotSupported(
            f"{table.name}: {error.what}", where=table.location, hint=error.hint
        ) from error
    diff, drift = _drift(table, name, facts, target, dialect)
    schema = (create_schema(name.schema, dialect),) if name.schema else ()
    mode = target.write.mode
    return Writing(
        prepare=Prepare(
            connection=target.connection,
            ddl=(*schema, create, *drift.ddl, *bookkeeping(dialect).create),
            destructive=drift.destructive_ddl,
            optional=drift.optional_ddl,
        ),
        commit=Commit(
            connection=target.connection,
            table=table,
            target=name,
            mode=mode,
            program=write_program(mode, table, name, dialect),
        ),
        facts=facts,
        diff=diff,
        destructive=tuple(change.text for change in drift.destructive),
        notes=(*notes_of(table, dialect), *drift.warnings),
    )


def _as_written(table: Table, target: TargetSpec) -> Table:
    """Return the table with what the pipeline says of it: its keys and partitions."""
    keys = merge_keys(target)
    return replace(
        table,
        partition_columns=target.write.partition_by or table.partition_columns,
        merge_keys=keys.columns if keys else table.merge_keys,
    )


def _drift(
    table: Table, name: TableName, facts: TargetFacts, target: TargetSpec, dialect: str
) -> tuple[SchemaDiff | None, DriftDecision]:
    if facts.columns is None:
        return None, DriftDecision()
    diff = compare(table, facts.columns, dialect)
    return diff, resolve_drift(diff, target.write.on_drift, table.location, name)
