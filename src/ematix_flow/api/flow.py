"""Flow: a project, ready to plan and run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from ematix_flow._base.clock import Clock, SystemClock
from ematix_flow.api.engines import Engines
from ematix_flow.api.explanation import Explanation, Unplannable
from ematix_flow.api.places import Places
from ematix_flow.api.planning import Planning
from ematix_flow.backends.failure import missing_drivers
from ematix_flow.backends.registry import capabilities
from ematix_flow.connections.home import home_of
from ematix_flow.connections.load import Connections
from ematix_flow.declare.config import ProjectConfig, load_config
from ematix_flow.declare.discover import load_project
from ematix_flow.declare.loading import refuse_while_loading
from ematix_flow.declare.named_targets import bind_named_targets
from ematix_flow.declare.project import Project
from ematix_flow.engine.choice import EngineChoice
from ematix_flow.errors import FlowError, UnknownName, located
from ematix_flow.observe.check import Check, Health
from ematix_flow.observe.events import Observer, ignore
from ematix_flow.plan.ensure import ensure_statements
from ematix_flow.plan.pairing import SPARK, Backends
from ematix_flow.plan.plan import Plan
from ematix_flow.ports import ActualColumn
from ematix_flow.record.run import RunResult
from ematix_flow.record.stores.jsonl import JsonlRunLog
from ematix_flow.resolve.dependencies import Dependency
from ematix_flow.resolve.query import FrameFunction
from ematix_flow.resolve.resolution import Resolution
from ematix_flow.spec.duration import duration_text
from ematix_flow.spec.modes import OnDrift
from ematix_flow.spec.modes import Path as TakenPath
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.identifiers import physical_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ematix_flow.engine.runs.backfill import BackfillResult, Chunk
    from ematix_flow.engine.runs.context import RunContext
    from ematix_flow.engine.runs.preview import Preview
    from ematix_flow.engine.runs.validation import Validation
    from ematix_flow.engine.server.status import ServerStatus
    from ematix_flow.write.after import RanAfter


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A loaded project, ready to plan and run."""

    config: ProjectConfig
    project: Project
    connections: Connections
    backends: Backends
    resolution: Resolution
    places: Places
    engines: Engines
    planning: Planning
    clock: Clock = field(default_factory=SystemClock)
    observer: Observer = ignore

    @classmethod
    def open(
        cls,
        directory: Path | str = ".",
        *,
        modules: Sequence[str] = (),
        engine: str | None = None,
        session: SparkSession | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        observer: Observer = ignore,
    ) -> Flow:
        """Load the project in *directory*. Starts nothing and writes nothing.

        :param session: A Spark session of the caller's to run on. It is borrowed: never
            reconfigured, never stopped.
        """
        refuse_while_loading("a project is opened")
        config = load_config(Path(directory))
        return cls._wired(
            config,
            load_project(config, modules),
            environ=os.environ if environ is None else environ,
            engine=engine,
            session=session,
            clock=clock or SystemClock(),
            observer=observer,
        )

    @classmethod
    def over(
        cls,
        project: Project,
        directory: Path | str = ".",
        *,
        session: SparkSession | None = None,
    ) -> Flow:
        """Wire what a plain script has declared, with the TOML of *directory* if there is one."""
        config = load_config(Path(directory))
        return cls._wired(config, project, environ=os.environ, session=session)

    @classmethod
    def _wired(
        cls,
        config: ProjectConfig,
        project: Project,
        *,
        environ: Mapping[str, str],
        engine: str | None = None,
        session: SparkSession | None = None,
        clock: Clock | None = None,
        observer: Observer = ignore,
    ) -> Flow:
        clock = clock or SystemClock()
        connections = Connections(
            declared=project.connections,
            configured=config.connections,
            configured_in=config.origin,
            environ=environ,
            base=config.directory,
            home=home_of(environ),
        )
        connections.register_secrets()
        bind_named_targets(project)
        backends = Backends(connections=connections, capabilities=capabilities())
        resolution = Resolution(
            project,
            place_of=backends.place_of,
            dialect_of=backends.dialect_of,
            connection_of=connections.__getitem__,
        )
        places = Places(connections)
        engines = Engines(
            config=config,
            project=project,
            environ=environ,
            clock=clock,
            asked=engine,
            session=session,
        )
        engines.choice()  # a wrong name is a mistake also where no step needs an engine
        planning = Planning(
            config=config,
            project=project,
            environ=environ,
            clock=clock,
            backends=backends,
            resolution=resolution,
            places=places,
            engines=engines,
        )
        return cls(
            config=config,
            project=project,
            connections=connections,
            backends=backends,
            resolution=resolution,
            places=places,
            engines=engines,
            planning=planning,
            clock=clock,
            observer=observer,
        )

    # What is there -----------------------------------------------------------------------------

    def pipelines(self) -> tuple[Pipeline, ...]:
        """Return all pipelines in the order they would run."""
        return tuple(self.project.pipelines[name] for name in self.resolution.order())

    def after(self, name: str) -> tuple[Dependency, ...]:
        """Return what a pipeline comes after, and how that is known."""
        return self.resolution.after[self.project.pipeline(name).name]

    def order(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return *names* (none: all) so that each comes after what it depends on."""
        for name in names:
            self.project.pipeline(name)
        return self.resolution.order(tuple(names) or None)

    def runs(self, pipeline: str | None = None, limit: int | None = None) -> list[RunResult]:
        """Return what was run, newest first."""
        if pipeline is not None:
            self.project.pipeline(pipeline)
        return self.run_log.runs(pipeline, limit)

    @property
    def run_log(self) -> JsonlRunLog:
        """The project's run log."""
        return JsonlRunLog(self.config.state_directory / "runs.jsonl")

    def doctor(self) -> list[Check]:
        """Look at everything a run needs, without starting anything."""
        from ematix_flow.engine.doctor import engine_checks

        needed = any(map(self._needs_engine, self.project.pipelines.values()))
        state = self.config.state_directory
        checks = list(engine_checks(self.engine_choice(), state, needed=needed))
        checks += [self._check_connection(name) for name in self._used_connections()]
        return checks

    def _needs_engine(self, pipeline: Pipeline) -> bool:
        """Tell whether a pipeline surely runs on Spark: one between databases may do without."""
        if pipeline.force_path is TakenPath.SPARK:
            return True
        try:
            given = self.resolution.input_of(pipeline)
        except FlowError:
            return False  # `flow plan` tells what is wrong with it
        return isinstance(given, FrameFunction) or given.dialect == SPARK

    def _check_connection(self, name: str) -> Check:
        try:
            connection = self.connections.resolved(name)
            if (missing := missing_drivers(self.backends.of(name))) is not None:
                raise missing
        except FlowError as error:
            return Check(
                name=f"connection {name}",
                health=Health.PROBLEM,
                finding=error.what,
                hint=error.hint,
            )
        shown = ", ".join(f"{key}={value}" for key, value in self.connections[name].shown().items())
        return Check(
            name=f"connection {name}", health=Health.OK, finding=f"{shown} ({connection.origin})"
        )

    def _used_connections(self) -> list[str]:
        pipelines = self.project.pipelines.values()
        sources = {each.source_connection for each in pipelines if each.source_connection}
        return sorted(
            sources | {target.connection for each in pipelines for target in each.targets}
        )

    # Planning ----------------------------------------------------------------------------------

    def plan(self, name: str) -> Plan:
        """Return what a run would do. Reads metadata, writes nothing, starts no Spark."""
        return self.planning.plan(name)

    def explain(self, name: str) -> Explanation:
        """Return the plan together with the engine and its settings."""
        self.project.pipeline(name)
        [told] = self.explain_all([name])
        if isinstance(told, Unplannable):
            raise told.error
        return told

    def explain_all(
        self, names: Sequence[str] = (), *, with_lineage: bool = False, analyze: bool = False
    ) -> list[Explanation | Unplannable]:
        """Return the plans of *names* (none: all), in the order they would run.

        :param analyze: Start Spark, without a job, to learn what frame code returns.
        """
        return self.planning.explained(
            self.order(names), with_lineage=with_lineage, analyze=analyze
        )

    def validate(self, name: str) -> Validation:
        """Plan a pipeline and have its source, or Spark, analyse its query. Reads no row."""
        return self.planning.validated(name)

    # Engines -----------------------------------------------------------------------------------

    def engine_choice(self, name: str | None = None) -> EngineChoice:
        """Return the engine that a pipeline (or a pipeline without a wish) would run on."""
        return self.engines.choice(name)

    def start_engine(self, *, idle_minutes: float) -> ServerStatus:
        """Start the warm Spark with what every pipeline of the project needs."""
        can = capabilities()
        kinds = {self.connections[name].kind for name in self._used_connections()}
        needed = {each for kind in kinds if kind in can for each in can[kind].connectors}
        return self.engines.start(sorted(needed), idle_minutes=idle_minutes)

    # Tables and frames -------------------------------------------------------------------------

    def dialect(self, connection: str) -> str:
        """Return the SQL that a connection speaks."""
        return self.backends.dialect_of(connection)

    def columns(self, connection: str, table: TableName) -> tuple[ActualColumn, ...] | None:
        """Return the columns of a table, or None where there is no such table."""
        target = self.places.target(connection)
        if not target.exists():
            return None
        with target.open_read_only() as session:
            return session.columns(physical_name(table, self.dialect(connection)))

    def ensure(self, table: Table, connection: str, on_drift: OnDrift) -> tuple[str, ...]:
        """Make *table* as declared in *connection*; return the statements that were run."""
        dialect = self.backends.of(connection).dialect
        with self.places.target(connection).open() as session:
            actual = session.columns(physical_name(table.name, dialect))
            statements = ensure_statements(table, actual, on_drift, dialect)
            for statement in statements:
                session.execute(statement)
        return statements

    def run_transform(self, name: str) -> RanAfter:
        """Run a stand-alone transform in its database, in one transaction."""
        from ematix_flow.plan.around import transform_statements
        from ematix_flow.write.after import run_after

        found = self.project.transforms.get(name)
        if found is None:
            raise UnknownName.among("transform", name, self.project.transforms)
        with located(found.location):
            sql = transform_statements(found, self.backends.dialect_of)
            return run_after(self.places.target(found.target_connection), sql)

    def read_frame(self, connection: str, query: str, kind: str | None) -> Any:
        """Return the rows of *query* as a pandas, polars, pyarrow or Spark frame."""
        from ematix_flow.engine.frames import FrameReader

        place = self.backends.place_of(connection)
        connectors = self.backends.of(connection).connectors
        return FrameReader(
            connection=connection,
            kind=place.kind,
            dialect=None if place.dialect == SPARK else place.dialect,
            reader=self.places.reader(connection),
            session=self.engines.session,
            open_engine=lambda: self.engines.for_reading(connectors),
        ).read(query, kind)

    # Running -----------------------------------------------------------------------------------

    def run(self, name: str, *, new: bool = False, allow_destructive: bool = False) -> RunResult:
        """Run one pipeline once; see `engine.runs.run`.

        :param new: Load again even if a run that died had already landed.
        """
        from ematix_flow.engine.runs.context import Order
        from ematix_flow.engine.runs.run import run_pipeline

        order = Order(new=new, allow_destructive=allow_destructive)
        return run_pipeline(name, self._run_context(name), order)

    def backfill(
        self,
        name: str,
        start: object,
        end: object,
        *,
        chunk: object = None,
        keep_going: bool = False,
        new: bool = False,
        on_chunk: Callable[[int, int, Chunk], None] = lambda *_: None,
    ) -> BackfillResult:
        """Load a part of the past again, from *start* to before *end*; see `engine.runs.backfill`.

        What fails is in the result. The same call again goes on where it stopped.
        """
        from ematix_flow.engine.runs.backfill import Range, run_backfill

        part = Range(
            start=_written(start),
            end=_written(end),
            chunk=None if chunk is None else _written(chunk),
        )
        return run_backfill(
            name, self._run_context(name), part, keep_going=keep_going, new=new, on_chunk=on_chunk
        )

    def replay(self, run_id: str, *, allow_destructive: bool = False) -> RunResult:
        """Load the window of a run again, as another run."""
        from ematix_flow.engine.runs.replay import replay_order
        from ematix_flow.engine.runs.run import run_pipeline

        name, order = replay_order(run_id, self.run_log, self.project)
        order = replace(order, allow_destructive=allow_destructive)
        return run_pipeline(name, self._run_context(name), order)

    def preview(self, name: str, rows: int = 20) -> Preview:
        """Return the first rows as they would reach the target. Writes nothing."""
        from ematix_flow.engine.runs.preview import preview

        context = self._run_context(name)
        planned = replace(context, plan=lambda *_, **__: self.planning.of_preview(name))
        return preview(name, planned, rows)

    def dry_run(self, name: str, *, allow_destructive: bool = False) -> RunResult:
        """Return what a run would change, counted by doing it and undoing it."""
        from ematix_flow.engine.runs.rehearsal import rehearse

        return rehearse(name, self._run_context(name), allow_destructive=allow_destructive)

    def _run_context(self, name: str) -> RunContext:
        from ematix_flow.engine.runs.context import RunContext

        pipeline, engines = self.project.pipeline(name), self.engines
        engines.choice(name)  # as above: the pipeline may have a wish of its own
        return RunContext(
            state_directory=self.config.state_directory,
            staging_root=lambda: engines.staging_root(name),
            log=self.run_log,
            clock=self.clock,
            observer=self.observer,
            reader=self.places.reader,
            target=self.places.target,
            plan=partial(self.planning.plan, name),
            open_engine=engines.opener,
            holder=lambda: f"{gethostname()}:{self.config.directory} ({engines.project_id()})",
            targets=tuple(dict.fromkeys(each.connection for each in pipeline.targets)),
            database_file=self.places.database_file,
            target_at=self.places.target_at,
            lease_ttl=pipeline.timing.lease_ttl,
            continue_on_failure=pipeline.timing.continue_on_failure,
        )


def _written(value: object) -> str:
    """Return a value as a person would write it: dates and durations as their texts."""
    if isinstance(value, timedelta):
        return duration_text(value)
    return value.isoformat() if isinstance(value, date) else str(value)
