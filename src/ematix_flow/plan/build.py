"""Building a plan: every mistake that can be known before a row is read is found here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from ematix_flow.declare.project import Project
from ematix_flow.errors import UnknownName
from ematix_flow.plan.blockers import blockers
from ematix_flow.plan.columns import check_result
from ematix_flow.plan.inferred import declared_table
from ematix_flow.plan.pairing import Backends
from ematix_flow.plan.plan import Plan, Window
from ematix_flow.plan.reading import Reading, ReadPlanner
from ematix_flow.plan.reasons import committed_at, why_run
from ematix_flow.plan.steps import Normalize, Stage, Step, Validate
from ematix_flow.plan.writing import Writing, plan_writing
from ematix_flow.ports import StateReader
from ematix_flow.resolve.dependencies import Dependency, table_key
from ematix_flow.resolve.freshness import UpstreamState, upstream_states
from ematix_flow.resolve.keys import merge_keys
from ematix_flow.resolve.query import Input, ResolvedQuery
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.lineage import Lineage
from ematix_flow.spec.modes import Path
from ematix_flow.spec.pipeline import Pipeline, TargetSpec
from ematix_flow.spec.table import Table
from ematix_flow.sqltext.identifiers import physical_name
from ematix_flow.sqltext.type_names import json_columns


@dataclass(frozen=True, kw_only=True)
class Planner:
    """Plans the pipelines of one project. Reads metadata through *state*, writes nothing.

    :param resolved: What a pipeline reads, by pipeline.
    :param after: What each pipeline comes after, by name.
    :param with_lineage: Trace columns too: it costs a little, and only some ask for it.
    """

    project: Project
    backends: Backends
    state: StateReader
    resolved: Callable[[Pipeline], Input]
    after: Mapping[str, tuple[Dependency, ...]]
    now: datetime
    with_lineage: bool = False

    def plan(self, pipeline: Pipeline) -> Plan:
        """Return what a run of *pipeline* would do."""
        target = pipeline.target
        can = self.backends.require_mode(pipeline)
        given = self.resolved(pipeline)
        after = self.after[pipeline.name]
        reading = ReadPlanner(
            pipeline=pipeline,
            project=self.project,
            backends=self.backends,
            state=self.state,
            after=after,
        ).plan(given)
        table = declared_table(target, pipeline, given, self.state)
        if isinstance(given, ResolvedQuery):
            check_result(given, table, target.write)
        writing = plan_writing(pipeline, target, table, can.dialect, self.state)
        upstreams = self._upstreams(pipeline, after)
        keys = merge_keys(target)
        warnings = (keys.warning,) if keys and keys.warning else ()
        ledger = writing.facts.ledger
        return Plan(
            pipeline=pipeline.name,
            location=str(pipeline.location),
            mode=pipeline.mode,
            source_connection=given.connection,
            target_connection=target.connection,
            target=str(writing.commit.target),
            why=why_run(pipeline.timing, ledger, upstreams, self.now),
            path=Path.SPARK,
            path_why=reading.why,
            steps=_steps(reading, writing, table, can.dialect),
            connectors=self._connectors(reading, can.connectors),
            input_bytes=reading.input_bytes,
            target_exists=writing.facts.columns is not None,
            last_commit=ledger.committed_at if ledger else None,
            depends_on=after,
            upstreams=upstreams,
            keys=keys,
            window=_window(pipeline, ledger.watermark if ledger else None),
            diff=writing.diff,
            expectations=pipeline.quality.expectations,
            destructive=writing.destructive,
            lineage=self._lineage(given),
            analysed=isinstance(given, ResolvedQuery),
            blockers=blockers(pipeline, can),
            remarks=(*warnings, *self._also_written(pipeline), *writing.notes),
        )

    def _also_written(self, pipeline: Pipeline) -> tuple[str, ...]:
        """Say who else writes the table: with truncate, one would erase the other's rows."""
        target = pipeline.target
        writers = self._writers[self._key(target)]
        others = sorted(set(writers) - {pipeline.name})
        return (f"{target.name} is also written by {', '.join(others)}",) if others else ()

    @cached_property
    def _writers(self) -> Mapping[tuple[str, str, str | None], list[str]]:
        found: dict[tuple[str, str, str | None], list[str]] = {}
        for pipeline in self.project.pipelines.values():
            for target in pipeline.targets:
                found.setdefault(self._key(target), []).append(pipeline.name)
        return found

    def _key(self, target: TargetSpec) -> tuple[str, str, str | None]:
        return table_key(target.connection, target.name, self.backends.dialect_of)

    def _lineage(self, given: Input) -> Lineage | None:
        if not self.with_lineage or not isinstance(given, ResolvedQuery):
            return None
        from ematix_flow.plan.lineage import query_lineage

        return query_lineage(given, self.state)

    def _connectors(self, reading: Reading, needed: tuple[str, ...]) -> tuple[str, ...]:
        read = {each for step in reading.reads for each in self._needs(step.connection)}
        return tuple(sorted({*read, *needed}))

    def _needs(self, connection: str) -> tuple[str, ...]:
        return self.backends.of(connection).connectors

    def _upstreams(
        self, pipeline: Pipeline, after: tuple[Dependency, ...]
    ) -> tuple[UpstreamState, ...]:
        if not pipeline.timing.upstream_freshness:
            return ()
        names = tuple(each.upstream for each in after)
        for limited, _ in pipeline.timing.upstream_freshness:
            if limited not in (*names, "*"):  # it would limit nothing
                raise UnknownName.among(
                    f"upstream in upstream_freshness of {pipeline.name!r}:",
                    limited,
                    names,
                    where=pipeline.location,
                    hint="name it in depends_on, or drop it here",
                )
        last = {name: self._last_commit(self.project.pipelines[name]) for name in names}
        return upstream_states(pipeline.timing, names, last, self.now)

    def _last_commit(self, pipeline: Pipeline) -> datetime | None:
        target = pipeline.target
        dialect = self.backends.dialect_of(target.connection)
        name = physical_name(target.name, dialect)
        ledger = self.state.target(target.connection, name, pipeline.name).ledger
        return committed_at(ledger) if ledger else None


def _steps(reading: Reading, writing: Writing, table: Table, dialect: str) -> tuple[Step, ...]:
    steps: list[Step] = [writing.prepare, *reading.reads]
    if reading.makes is not None:
        steps.append(reading.makes)
    if any(column.markers for column in table.columns):
        steps.append(Normalize(table=table))
    steps += [
        Validate(contract=Contract.of(table), as_json=json_columns(table, dialect)),
        Stage(),
        writing.commit,
    ]
    return tuple(steps)


def _window(pipeline: Pipeline, watermark: str | None) -> Window | None:
    column = pipeline.read.incremental_column
    if column is None:
        return None
    return Window(column=column, above=watermark, lookback=pipeline.read.lookback)
