"""The steps on the target: what is created or changed before, and the one commit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ematix_flow.errors import NotSupported, PlanError, located
from ematix_flow.plan.children import lost_with_rows
from ematix_flow.plan.collations import other_collations, refuse_incomparable_keys
from ematix_flow.plan.diff import SchemaDiff, compare
from ematix_flow.plan.drift import DriftDecision, resolve_drift
from ematix_flow.plan.fitting import fitted
from ematix_flow.plan.layout import layout_of
from ematix_flow.plan.steps import Commit, Prepare
from ematix_flow.ports import ActualColumn, StateReader, TargetFacts
from ematix_flow.spec.drifted import Drifted
from ematix_flow.spec.layout import Layout
from ematix_flow.spec.modes import HandleDeletes, Mode, OnDrift
from ematix_flow.spec.pipeline import Pipeline, TargetSpec
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.ddl import create_schema, create_table
from ematix_flow.sqltext.identifiers import physical_name, require_name
from ematix_flow.sqltext.program import write_program
from ematix_flow.sqltext.program.companion import companion_of
from ematix_flow.sqltext.type_names import notes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What happens to one target.

    :param destructive: The changes that need consent, in words.
    :param notes: What was chosen for this database and is not obvious.
    :param drifted: The columns whose values, or rows, are let go where they do not fit.
    """

    prepare: Prepare
    commit: Commit
    facts: TargetFacts
    diff: SchemaDiff | None
    destructive: tuple[str, ...]
    notes: tuple[str, ...]
    drifted: tuple[Drifted, ...] = ()


def plan_writing(
    pipeline: Pipeline,
    target: TargetSpec,
    table: Table,
    dialect: str,
    state: StateReader,
    *,
    again: bool = False,
    dry: bool = False,
) -> Writing:
    """Compare the target with its declaration, and say what to do about it.

    :param again: Whether rows may be given that are there already: a part of the past is loaded.
    :param dry: Whether all of it will be undone.
    """
    name = physical_name(table.name, dialect)
    _require_names(table, name, dialect)
    facts = state.target(target.connection, name, pipeline.name)
    dialect = facts.dialect or dialect
    declared = replace(
        table, partition_columns=target.write.partition_by or table.partition_columns
    )
    fit = fitted(target, declared, facts.columns, dialect)
    layout = layout_of(
        target,
        fit.table,
        facts.columns,
        has_cursor=pipeline.read.incremental_column is not None,
        known_rows=(again or pipeline.read.lookback is not None)
        and target.write.mode is Mode.APPEND,
    )
    if layout.known_rows:
        _require_known(layout, pipeline)
    created = _created(layout.table, name, dialect)
    diff, drift = _drift(layout.table, name, facts, target, dialect)
    refuse_incomparable_keys(layout, facts.columns or (), dialect)
    beside = _companion(
        layout,
        name,
        dialect,
        lambda table: state.target(target.connection, table, pipeline.name).columns,
    )
    missing = () if facts.columns is not None else created
    return Writing(
        prepare=Prepare(
            connection=target.connection,
            ddl=(*missing, *drift.ddl, *beside.created, *beside.altered),
            destructive=drift.destructive_ddl,
            optional=drift.optional_ddl,
            alters=(*drift.ddl, *beside.altered, *drift.destructive_ddl),
        ),
        commit=Commit(
            connection=target.connection,
            target=name,
            layout=layout,
            program=write_program(layout, name, dialect, pipeline=pipeline.name, dry=dry),
        ),
        facts=facts,
        diff=diff,
        destructive=(
            *(change.text for change in drift.destructive),
            *lost_with_rows(target, name, state),
        ),
        notes=(
            *notes_of(_as_declared(layout.table, fit.table), dialect),
            *other_collations(layout, facts.columns or (), dialect),
            *fit.notes,
            *drift.warnings,
            *_full_snapshot(layout),
        ),
        drifted=fit.drifted,
    )


def _require_known(layout: Layout, pipeline: Pipeline) -> None:
    """Refuse to tell rows apart that were loaded before by less than what sets them apart."""
    column = pipeline.read.incremental_column
    if layout.keys or column is None or column.casefold() in map(str.casefold, layout.given):
        return
    raise PlanError(
        f"pipeline {pipeline.name!r} may read rows again that {layout.table.name} has, and without "
        f"a key or {column} there equal rows cannot be told from the same row",
        where=pipeline.location,
        hint=f"declare a key, or let the table have {column}",
    )


def _require_names(table: Table, name: TableName, dialect: str) -> None:
    """Refuse names that the database cannot have, before it is asked about them."""
    with located(table.location):
        for each in (name.name, name.schema or "", *table.column_names):
            require_name(each, dialect)


def _full_snapshot(layout: Layout) -> tuple[str, ...]:
    """Say what rows that mark deletions do not need, and what may be meant otherwise."""
    if not layout.has_deletion_flag or layout.handle_deletes is HandleDeletes.IGNORE:
        return ()
    said = f"handle_deletes={layout.handle_deletes.value!r}"
    meant = "keys that the input lacks count as deleted, besides those that apply_as_deletes marks"
    return (f"{said}: {meant}; is the input a full snapshot?",)


def _as_declared(table: Table, declared: Table) -> Table:
    """Return the table without what flow keeps in it: nobody asked for a note on that."""
    names = declared.column_names
    return replace(table, columns=tuple(each for each in table.columns if each.name in names))


def _created(table: Table, name: TableName, dialect: str) -> tuple[str, ...]:
    """Return what creates the table; NotSupported where the database cannot hold it."""
    schema = (create_schema(name.schema, dialect),) if name.schema else ()
    try:
        return (*schema, create_table(table, name, dialect))
    except NotSupported as error:
        raise NotSupported(
            f"{table.name}: {error.what}", where=table.location, hint=error.hint
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """The statements that create the companion, or give it the columns it lacks."""

    created: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()


def _companion(
    layout: Layout,
    name: TableName,
    dialect: str,
    columns_of: Callable[[TableName], tuple[ActualColumn, ...] | None],
) -> _Beside:
    companion = companion_of(layout, name)
    if companion is None:
        return _Beside()
    actual = columns_of(companion.name)
    if actual is None:
        return _Beside(created=_created(companion, companion.name, dialect))
    # It is ours: it grows with its target without being asked.
    _, drift = _compared(companion, companion.name, actual, OnDrift.EVOLVE, dialect)
    return _Beside(altered=drift.ddl)


def _drift(
    table: Table, name: TableName, facts: TargetFacts, target: TargetSpec, dialect: str
) -> tuple[SchemaDiff | None, DriftDecision]:
    if facts.columns is None:
        return None, DriftDecision()
    return _compared(table, name, facts.columns, target.write.on_drift, dialect)


def _compared(
    table: Table,
    name: TableName,
    actual: tuple[ActualColumn, ...],
    on_drift: OnDrift,
    dialect: str,
) -> tuple[SchemaDiff, DriftDecision]:
    diff = compare(table, actual, dialect)
    return diff, resolve_drift(diff, on_drift, table.location, name)
