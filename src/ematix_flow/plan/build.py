"""Building a plan: every mistake that can be known before a row is read is found here."""

from __future__ import annotations

from collections.abc import Mapping

from ematix_flow.connections.load import Connections
from ematix_flow.declare.project import Project
from ematix_flow.errors import NotSupported, PlanError, SourceError, SourceMissing
from ematix_flow.plan.drift import check_drift
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
from ematix_flow.ports import SourceFacts, StateReader
from ematix_flow.resolve.graph import run_order
from ematix_flow.resolve.query import ResolvedQuery, SourceHandle, resolve_query
from ematix_flow.spec.capability import Capabilities, Capability, Support
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.bookkeeping import Bookkeeping
from ematix_flow.sqltext.ddl import create_schema, create_table
from ematix_flow.sqltext.identifiers import physical_name
from ematix_flow.sqltext.program import write_program

# On Spark; the dialect of every query over files.
SPARK = "spark"


def build_plan(
    pipeline: Pipeline,
    *,
    project: Project,
    connections: Connections,
    capabilities: Mapping[str, Capabilities],
    state: StateReader,
) -> Plan:
    """Return what a run of *pipeline* would do. Reads metadata through *state*, writes nothing."""
    run_order(project)  # every name in depends_on is known and there is no circle
    source = connections[pipeline.source_connection]
    target = connections[pipeline.target_connection]
    can_read = _capable(capabilities, source.kind)
    can_write = _capable(capabilities, target.kind)
    _require(can_write, Capability(pipeline.mode.value), pipeline)

    in_source = can_read.has(Capability.READ_QUERY)
    if not in_source:
        _require(can_read, Capability.READ_RELATION, pipeline)
    query = resolve_query(
        pipeline,
        dialect=can_read.dialect if in_source else SPARK,
        source=SourceHandle(connection=source.name, kind=source.kind),
    )
    reads = _reads(pipeline, query, state, project, in_source=in_source)

    name = physical_name(pipeline.target.name, can_write.dialect)
    facts = state.target(pipeline.target_connection, name, pipeline.name)
    try:
        create = create_table(pipeline.target, name, can_write.dialect)
    except NotSupported as error:
        raise NotSupported(
            f"{pipeline.target.name}: {error.what}", where=pipeline.target.location, hint=error.hint
        ) from error
    if facts.columns is not None:
        check_drift(pipeline.target, name, facts.columns, can_write.dialect)
    schema = (create_schema(name.schema, can_write.dialect),) if name.schema else ()

    steps: list[Step] = [
        Prepare(
            connection=target.name,
            ddl=(*schema, create, *Bookkeeping(can_write.dialect).create),
        ),
        *reads,
    ]
    if not in_source:
        steps.append(Transform(query=query.text))
    steps += [
        Validate(contract=Contract.of(pipeline.target)),
        Stage(),
        Commit(
            connection=target.name,
            table=pipeline.target,
            target=name,
            mode=pipeline.mode,
            program=write_program(pipeline.mode, pipeline.target, name, can_write.dialect),
        ),
    ]
    sizes = [step.facts.size_bytes for step in reads]
    return Plan(
        pipeline=pipeline.name,
        location=str(pipeline.location),
        mode=pipeline.mode,
        source_connection=source.name,
        target_connection=target.name,
        target=str(name),
        path="spark",
        path_why=(
            f"the query runs in {source.name} ({source.kind}), Spark carries its result"
            if in_source
            else f"{source.kind} files are read and queried by Spark"
        ),
        steps=tuple(steps),
        connectors=tuple(sorted({*can_read.connectors, *can_write.connectors})),
        input_bytes=sum(size for size in sizes if size is not None) if any(sizes) else None,
        target_exists=facts.columns is not None,
        last_commit=facts.ledger.committed_at if facts.ledger else None,
    )


def _reads(
    pipeline: Pipeline,
    query: ResolvedQuery,
    state: StateReader,
    project: Project,
    *,
    in_source: bool,
) -> list[ReadRelation | ReadQuery]:
    connection = pipeline.source_connection
    if in_source:
        facts = _look_at(pipeline, None, state, project)
        return [
            ReadQuery(connection=connection, query=query.text, dialect=query.dialect, facts=facts)
        ]
    return [
        ReadRelation(
            connection=connection,
            relation=table.name,
            facts=_look_at(pipeline, table, state, project),
        )
        for table in query.tables
    ]


def _look_at(
    pipeline: Pipeline, table: TableName | None, state: StateReader, project: Project
) -> SourceFacts:
    try:
        return state.source(pipeline.source_connection, _file_relation(table))
    except SourceMissing:
        # What an upstream pipeline creates need not be there yet.
        makers = [
            name
            for name in pipeline.depends_on
            if project.pipelines[name].target_connection == pipeline.source_connection
        ]
        if not makers:
            raise
        return SourceFacts(description=f"not there yet: {', '.join(makers)} creates it")


def _file_relation(table: TableName | None) -> str | None:
    if table is None:
        return None
    if table.schema is not None:
        raise SourceError(
            f"{table}: files have no schemas", hint=f"write {table.name}, or quote the whole name"
        )
    return table.name


def _capable(capabilities: Mapping[str, Capabilities], kind: str) -> Capabilities:
    if kind not in capabilities:
        raise PlanError(
            f"no backend is installed for kind {kind!r} (installed: {', '.join(capabilities)})",
            hint=f"pip install 'ematix-flow[{kind}]'",
        )
    return capabilities[kind]


def _require(backend: Capabilities, capability: Capability, pipeline: Pipeline) -> None:
    match backend[capability]:
        case Support.FULL:
            return
        case Support.NOT_IMPLEMENTED:
            why = "that is not built yet"
        case Support.UNSUPPORTED:
            why = "it cannot"
    raise NotSupported(
        f"pipeline {pipeline.name!r} asks {backend.kind} for {capability.value}, but {why}",
        where=pipeline.location,
    )
