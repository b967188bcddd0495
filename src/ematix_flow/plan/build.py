"""Building a plan: every mistake that can be known before a row is read is found here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from ematix_flow.declare.project import Project
from ematix_flow.errors import UnknownName
from ematix_flow.plan.around import after_load, before_load
from ematix_flow.plan.blockers import blockers
from ematix_flow.plan.columns import check_result
from ematix_flow.plan.inferred import declared_table
from ematix_flow.plan.loading import TargetLoad
from ematix_flow.plan.pairing import Backends
from ematix_flow.plan.path import PathChoice, PathChooser
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.reading import Reading, ReadPlanner
from ematix_flow.plan.reasons import committed_at, why_run
from ematix_flow.plan.windows import Windows, windows_of
from ematix_flow.plan.writing import plan_writing
from ematix_flow.ports import StateReader
from ematix_flow.resolve.dependencies import Dependency, table_key
from ematix_flow.resolve.freshness import UpstreamState, upstream_states
from ematix_flow.resolve.query import Input, ResolvedQuery
from ematix_flow.spec.lineage import Lineage
from ematix_flow.spec.modes import Path
from ematix_flow.spec.pipeline import Pipeline, TargetSpec
from ematix_flow.spec.window import Ends
from ematix_flow.sqltext.identifiers import physical_name


@dataclass(frozen=True, kw_only=True)
class Planner:
    """Plans the pipelines of one project. Reads metadata through *state*, writes nothing.

    :param resolved: What a pipeline reads, by pipeline.
    :param after: What each pipeline comes after, by name.
    :param lacks: Which packages a pipeline would miss on a path, with its connections.
    :param direct_bytes: Up to how much this process carries from database to database itself.
    :param dry: Plan for dry runs.
    :param with_lineage: Trace columns too: it costs a little, and only some ask for it.
    """

    project: Project
    backends: Backends
    state: StateReader
    resolved: Callable[[Pipeline], Input]
    after: Mapping[str, tuple[Dependency, ...]]
    lacks: Callable[[str, Path, Iterable[str]], tuple[str, ...]]
    now: datetime
    direct_bytes: int = 0
    dry: bool = False
    with_lineage: bool = False

    def plan(self, pipeline: Pipeline, window: Ends | None = None, *, again: bool = False) -> Plan:
        """Return what a run of *pipeline* would do.

        :param window: The part of the incremental column to read (`Window.ends`), instead of what
            is new.
        :param again: Whether that part was loaded before.
        """
        self.backends.require_mode(pipeline)
        given = self.resolved(pipeline)
        after = self.after[pipeline.name]
        reading = self._reading(pipeline, given, after)
        loads = tuple(
            self._load(pipeline, target, given, again=again) for target in pipeline.targets
        )
        watermarks = tuple(load.watermark for load in loads)
        windows = windows_of(pipeline, watermarks, window, again=again)
        if windows.shared is not None and isinstance(given, ResolvedQuery):
            reading = reading.within(windows.shared, given)
        chosen = self._path(pipeline, reading, loads, windows)
        upstreams = self._upstreams(pipeline, after)
        ledger = loads[0].writing.facts.ledger
        targets = tuple(load.plan() for load in loads)
        places = self._places(reading, pipeline)
        return Plan(
            pipeline=pipeline.name,
            location=str(pipeline.location),
            source_connection=given.connection,
            why=why_run(pipeline.timing, ledger, upstreams, self.now),
            path=chosen.path,
            path_why=chosen.why,
            rows=chosen.rows,
            loads=chosen.loads,
            after=after_load(pipeline, self.project, self.backends.dialect_of),
            targets=targets,
            connectors=tuple(sorted({each for name in places for each in self._needs(name)})),
            input_bytes=reading.input_bytes,
            depends_on=after,
            upstreams=upstreams,
            window=windows.shared,
            expectations=pipeline.quality.expectations,
            lineage=self._lineage(given),
            analysed=isinstance(given, ResolvedQuery),
            blockers=(
                *blockers(pipeline, self.backends.of),
                *self.lacks(pipeline.name, chosen.path, places),
            ),
            remarks=(
                *(each for target in targets for each in target.remarks),
                *self._also_written(pipeline),
            ),
        )

    def _reading(self, pipeline: Pipeline, given: Input, after: tuple[Dependency, ...]) -> Reading:
        planner = ReadPlanner(
            pipeline=pipeline,
            project=self.project,
            backends=self.backends,
            state=self.state,
            after=after,
        )
        return planner.plan(given)

    def _path(
        self,
        pipeline: Pipeline,
        reading: Reading,
        loads: tuple[TargetLoad, ...],
        windows: Windows,
    ) -> PathChoice:
        """Write down what Spark would do, and choose the shortest path that does the same."""
        untyped = self._is_untyped(reading)
        return PathChooser(
            pipeline=pipeline,
            rows=(*reading.steps(), *before_load(pipeline, windows.shared, self.project)),
            loads=tuple(
                load.steps(pipeline, own, untyped=untyped)
                for load, own in zip(loads, windows.own, strict=True)
            ),
            why_spark=reading.why,
            dialect=loads[0].dialect,
            state=self.state,
            input_bytes=reading.input_bytes,
            direct_bytes=self.direct_bytes,
        ).choose()

    def _is_untyped(self, reading: Reading) -> bool:
        """Tell whether rows come from files that say nothing about types."""
        return any(self.backends.of(step.connection).kind == "csv" for step in reading.reads)

    def _load(
        self, pipeline: Pipeline, target: TargetSpec, given: Input, *, again: bool
    ) -> TargetLoad:
        table = declared_table(target, pipeline, given, self.state)
        dialect = self.backends.dialect_of(target.connection)
        writing = plan_writing(
            pipeline, target, table, dialect, self.state, again=again, dry=self.dry
        )
        dialect = writing.facts.dialect or dialect
        load = TargetLoad(target=target, writing=writing, dialect=dialect)
        if isinstance(given, ResolvedQuery):
            check_result(given, load.judged, writing.commit.layout, pipeline, target)
        return load

    def _also_written(self, pipeline: Pipeline) -> tuple[str, ...]:
        """Say who else writes the tables: with truncate, one would erase the other's rows."""
        found = []
        for target in pipeline.targets:
            others = sorted(set(self._writers.get(self._key(target), [])) - {pipeline.name})
            if others:
                found.append(f"{target.name} is also written by {', '.join(others)}")
        return tuple(found)

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

    def _places(self, reading: Reading, pipeline: Pipeline) -> tuple[str, ...]:
        """Return the connections that are read and written."""
        read = (step.connection for step in reading.reads)
        written = (target.connection for target in pipeline.targets)
        return tuple(dict.fromkeys((*read, *written)))

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
