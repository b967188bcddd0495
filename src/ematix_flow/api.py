"""Flow: the composition root. It alone wires project, backends, engine and run log."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from ematix_flow._base.clock import Clock, SystemClock
from ematix_flow._base.files import PRIVATE_FILE, write_whole
from ematix_flow._base.ids import uuid7
from ematix_flow.backends.registry import backends, capabilities
from ematix_flow.connections.load import Connections
from ematix_flow.connections.model.databases import DatabaseFileConnection
from ematix_flow.declare.config import ProjectConfig, load_config
from ematix_flow.declare.direct_limit import direct_limit
from ematix_flow.declare.discover import load_project
from ematix_flow.declare.named_targets import bind_named_targets
from ematix_flow.declare.project import Project
from ematix_flow.engine.choice import CONFIGURED, EngineChoice, choose
from ematix_flow.engine.host.machine import Machine, this_machine
from ematix_flow.engine.metadata import MetadataReader
from ematix_flow.engine.runs.stand_ins import RehearsalPlan, plan_of_rehearsal
from ematix_flow.engine.spark.sizing import Sizing, size
from ematix_flow.errors import FlowError, PlanError, UnknownName, UsageError, located
from ematix_flow.observe.check import Check, Health
from ematix_flow.observe.events import Observer, ignore
from ematix_flow.plan.build import Planner
from ematix_flow.plan.ensure import ensure_statements
from ematix_flow.plan.pairing import SPARK, Backends
from ematix_flow.plan.plan import Plan
from ematix_flow.ports import ActualColumn, Reader, StateReader, Target
from ematix_flow.record.run import RunResult, Window
from ematix_flow.record.stores.jsonl import JsonlRunLog
from ematix_flow.resolve.dependencies import Dependency
from ematix_flow.resolve.resolution import Resolution
from ematix_flow.spec.duration import duration_text
from ematix_flow.spec.modes import OnDrift
from ematix_flow.spec.modes import Path as DataPath
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
    from ematix_flow.engine.spark.opened import OpenEngine
    from ematix_flow.write.after import RanAfter


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A plan and how it would be run."""

    plan: Plan
    engine: EngineChoice
    sizing: Sizing


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplannable:
    """A pipeline that cannot run as it is, and why."""

    pipeline: str
    error: FlowError


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A loaded project, ready to plan and run."""

    config: ProjectConfig
    project: Project
    connections: Connections
    environ: Mapping[str, str]
    engine: str | None = None
    session: SparkSession | None = None
    clock: Clock = field(default_factory=SystemClock)
    observer: Observer = ignore
    backends: Backends
    resolution: Resolution

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
    def over(cls, project: Project, directory: Path | str = ".") -> Flow:
        """Wire what a plain script has declared, with the TOML of *directory* if there is one."""
        config = load_config(Path(directory))
        return cls._wired(config, project, environ=os.environ)

    @classmethod
    def _wired(
        cls,
        config: ProjectConfig,
        project: Project,
        *,
        environ: Mapping[str, str],
        **options: Any,
    ) -> Flow:
        connections = Connections(
            declared=project.connections,
            configured=config.connections,
            configured_in=config.origin,
            environ=environ,
            base=config.directory,
            home=Path(environ["HOME"]) if "HOME" in environ else Path.home(),
        )
        connections.register_secrets()
        bind_named_targets(project)
        known = Backends(connections=connections, capabilities=capabilities())
        return cls(
            config=config,
            project=project,
            connections=connections,
            environ=environ,
            backends=known,
            resolution=Resolution(
                project,
                place_of=known.place_of,
                dialect_of=known.dialect_of,
                connection_of=connections.__getitem__,
            ),
            **options,
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

        checks = list(engine_checks(self.engine_choice(), self.config.state_directory))
        checks += [self._check_connection(name) for name in self._used_connections()]
        return checks

    def _check_connection(self, name: str) -> Check:
        try:
            connection = self.connections.resolved(name)
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

    # Planning ----------------------------------------------------------------------------------

    def plan(self, name: str) -> Plan:
        """Return what a run would do. Reads metadata, writes nothing, starts no Spark."""
        return self._plan_over(name, None)

    def _plan_over(self, name: str, window: Window | None, again: bool = False) -> Plan:  # noqa: FBT001, FBT002  # a port of the engine's
        """Plan a run over a given part of the incremental column, or over what is new.

        :param again: Whether that part was loaded before.
        """
        pipeline = self.project.pipeline(name)
        with self._planner() as planner, located(pipeline.location):
            return planner.plan(pipeline, window, again=again)

    def _plan_of_preview(self, name: str) -> Plan:
        """Plan a run of which nothing is written, not even for a moment."""
        pipeline = self.project.pipeline(name)
        with self._planner() as planner, located(pipeline.location):
            plan = planner.plan(pipeline)
            if plan.path is not DataPath.DIRECT:
                return plan
            return planner.plan(replace(pipeline, force_path=DataPath.SPARK))

    def _plan_of_rehearsal(self, name: str) -> RehearsalPlan:
        pipeline = self.project.pipeline(name)
        with self._planner() as planner, located(pipeline.location):
            return plan_of_rehearsal(pipeline, planner.plan)

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
        wanted = [self.project.pipelines[name] for name in self.order(names)]
        machine = this_machine()
        with self._planner(with_lineage=with_lineage) as planner:
            return [
                self._explained(pipeline, planner, machine, analyze=analyze) for pipeline in wanted
            ]

    def _explained(
        self, pipeline: Pipeline, planner: Planner, machine: Machine, *, analyze: bool
    ) -> Explanation | Unplannable:
        try:
            plan = _planned(planner, pipeline)
            if analyze:
                plan = self._analysed(plan, planner.state)
            engine = self.engine_choice(plan.pipeline)
            sizing = self._sizing(plan, machine)
            return Explanation(plan=plan, engine=engine, sizing=sizing)
        except FlowError as error:
            return Unplannable(pipeline=pipeline.name, error=error)

    def validate(self, name: str) -> Validation:
        """Plan a pipeline and have its source, or Spark, analyse its query. Reads no row."""
        from ematix_flow.engine.runs.validation import Validation, validate_plan

        pipeline = self.project.pipeline(name)
        try:
            with self._planner() as planner, located(pipeline.location):
                plan = planner.plan(pipeline)
                return validate_plan(plan, pipeline, planner.state, self._engine_opener(plan))
        except FlowError as error:
            return Validation(pipeline=name, error=error)

    def _analysed(self, plan: Plan, state: StateReader) -> Plan:
        from ematix_flow.engine.analysis.query import RunsJob
        from ematix_flow.engine.runs.validation import analyse_plan, analysed

        if plan.analysed:
            return plan
        pipeline = self.project.pipeline(plan.pipeline)
        with located(pipeline.location):
            opener = self._engine_opener(plan)
            try:
                found = analyse_plan(plan, pipeline, state, opener)
            except RunsJob as error:
                return replace(plan, remarks=(*plan.remarks, f"not analysed: {error.what}"))
            return analysed(plan, found)

    @contextmanager
    def _planner(self, *, with_lineage: bool = False) -> Iterator[Planner]:
        self.resolution.order()  # every name in depends_on is known and there is no circle
        with MetadataReader(self._reader, self._target) as state:
            yield Planner(
                project=self.project,
                backends=self.backends,
                state=state,
                resolved=self.resolution.input_of,
                after=self.resolution.after,
                now=self.clock.now(),
                direct_bytes=direct_limit(self.config, self.environ),
                with_lineage=with_lineage,
            )

    def engine_choice(self, name: str | None = None) -> EngineChoice:
        """Return the engine that a pipeline (or a pipeline without a wish) would run on."""
        wish = self.project.pipeline(name).engine if name else None
        try:
            choice = choose(
                self.engine, self.environ, wish or self.config.engine, auto=self.config.auto
            )
        except FlowError as error:
            if name and wish and error.where == CONFIGURED:
                error.where = str(self.project.pipeline(name).location)
            raise
        if wish and choice.why.startswith(CONFIGURED):
            return replace(choice, why=f"the pipeline's own engine={wish!r}")
        return choice

    def start_engine(self, *, idle_minutes: float) -> ServerStatus:
        """Start the warm Spark with what every pipeline of the project needs."""
        from ematix_flow.engine.host.installed import require_classic, require_pyspark
        from ematix_flow.engine.server import server
        from ematix_flow.engine.server.wanted import wanted_for

        choice = self.engine_choice()
        if choice.kind != "local":
            raise UsageError(
                f"the warm Spark serves the engine 'local'; this project runs on {choice.address} "
                f"({choice.why})",
                hint="flow engine start --engine local",
            )
        require_pyspark()
        require_classic()
        wanted = wanted_for(
            choice.target,
            sizing=size(this_machine(), None, self.config.spark, set_in=self.config.origin),
            connectors=self._connectors(),
            state_dir=self.config.state_directory,
        )
        return server.start(self.config.state_directory, wanted, idle_minutes=idle_minutes)

    def _used_connections(self) -> list[str]:
        pipelines = self.project.pipelines.values()
        sources = {each.source_connection for each in pipelines if each.source_connection}
        return sorted(
            sources | {target.connection for each in pipelines for target in each.targets}
        )

    def _connectors(self) -> tuple[str, ...]:
        can = capabilities()
        kinds = {self.connections[name].kind for name in self._used_connections()}
        needed = {each for kind in kinds if kind in can for each in can[kind].connectors}
        return (*sorted(needed), *self.config.connectors)

    def ensure(self, table: Table, connection: str, on_drift: OnDrift) -> tuple[str, ...]:
        """Make *table* as declared in *connection*; return the statements that were run."""
        dialect = self.backends.of(connection).dialect
        target = self._target(connection)
        with target.open() as session:
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
            return run_after(self._target(found.target_connection), sql)

    def columns(self, connection: str, table: TableName) -> tuple[ActualColumn, ...] | None:
        """Return the columns of a table, or None where there is no such table."""
        target = self._target(connection)
        if not target.exists():
            return None
        with target.open_read_only() as session:
            return session.columns(physical_name(table, self.dialect(connection)))

    def dialect(self, connection: str) -> str:
        """Return the SQL that a connection speaks."""
        return self.backends.dialect_of(connection)

    def read_frame(self, connection: str, query: str, kind: str | None) -> Any:
        """Return the rows of *query* as a pandas, polars, pyarrow or Spark frame."""
        from ematix_flow.engine.frames import FrameReader

        place = self.backends.place_of(connection)
        return FrameReader(
            connection=connection,
            kind=place.kind,
            dialect=None if place.dialect == SPARK else place.dialect,
            reader=self._reader(connection),
            session=self.session,
            open_engine=lambda: self._engine_for_reading(connection),
        ).read(query, kind)

    def _engine_for_reading(self, connection: str) -> AbstractContextManager[OpenEngine]:
        from ematix_flow.engine.opening import open_engine

        choice = self.engine_choice()
        set_in = self.config.origin
        return open_engine(
            choice,
            sizing=size(this_machine(), None, self.config.spark, engine=choice.kind, set_in=set_in),
            connectors=(*self.backends.of(connection).connectors, *self.config.connectors),
            state_dir=self.config.state_directory,
        )

    # Running -----------------------------------------------------------------------------------

    def run(self, name: str, *, new: bool = False, allow_destructive: bool = False) -> RunResult:
        """Run one pipeline once; see `engine.run`.

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
        """Load a part of the past again, from *start* to before *end*; see `engine.backfill`.

        What fails is in the result. The same call again goes on where it stopped.
        """
        from ematix_flow.engine.runs.backfill import Range, run_backfill

        part = Range(
            start=written(start), end=written(end), chunk=None if chunk is None else written(chunk)
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

        context = replace(self._run_context(name), plan=lambda *_: self._plan_of_preview(name))
        return preview(name, context, rows)

    def dry_run(self, name: str, *, allow_destructive: bool = False) -> RunResult:
        """Return what a run would change, counted by doing it and undoing it."""
        from ematix_flow.engine.runs.rehearsal import rehearse

        return rehearse(
            name,
            self._run_context(name),
            lambda: self._plan_of_rehearsal(name),
            allow_destructive=allow_destructive,
        )

    def _run_context(self, name: str) -> RunContext:
        from ematix_flow.engine.runs.context import RunContext

        pipeline = self.project.pipeline(name)
        return RunContext(
            state_directory=self.config.state_directory,
            staging_root=lambda: self._staging_root(name),
            log=self.run_log,
            clock=self.clock,
            observer=self.observer,
            reader=self._reader,
            target=self._target,
            plan=lambda window, again: self._plan_over(name, window, again),
            open_engine=self._engine_opener,
            holder=lambda: f"{gethostname()}:{self.config.directory} ({self._project_id()})",
            targets=tuple(dict.fromkeys(each.connection for each in pipeline.targets)),
            database_file=self._database_file,
            lease_ttl=pipeline.timing.lease_ttl,
            goes_on=pipeline.timing.continue_on_failure,
        )

    def _database_file(self, name: str) -> Path | None:
        """Return the file that a connection's database is; None for a server, or for memory."""
        match self.connections.resolved(name):
            case DatabaseFileConnection(in_memory=False, location=location):
                return location
            case _:
                return None

    def _engine_opener(self, plan: Plan) -> Callable[[], AbstractContextManager[OpenEngine]]:
        def opener() -> AbstractContextManager[OpenEngine]:
            from ematix_flow.engine.opening import open_engine
            from ematix_flow.engine.spark.borrowed import borrow

            if self.session is not None:
                return borrow(self.session, self._sizing(plan).session_conf())
            return open_engine(
                self.engine_choice(plan.pipeline),
                sizing=self._sizing(plan),
                connectors=(*plan.connectors, *self.config.connectors),
                state_dir=self.config.state_directory,
            )

        return opener

    def _sizing(self, plan: Plan, machine: Machine | None = None) -> Sizing:
        return size(
            machine or this_machine(),
            plan.input_bytes,
            self.config.spark,
            engine=self.engine_choice(plan.pipeline).kind,
            set_in=self.config.origin,
        )

    def _staging_root(self, name: str) -> Path:
        """Return where rows are staged: a disk that the engine and this process both see."""
        if self.config.staging_path is not None:
            # Others may stage on that disk too, under the same pipeline names.
            return self.config.directory / self.config.staging_path / self._project_id()
        choice = self.engine_choice(name)
        if choice.kind in ("master", "connect") and not _is_this_machine(choice.address):
            raise PlanError(
                f"engine {choice.address} does not share this machine's disk, "
                "and rows are staged on it",
                where=self.config.origin,
                hint='set staging_path = "..." to a folder that both see',
            )
        return self.config.state_directory / "staging"

    def _project_id(self) -> str:
        """Return this project's own id, made once."""
        file = self.config.state_directory / "project-id"
        if not file.exists():
            write_whole(file, str(uuid7(self.clock.now())).encode(), mode=PRIVATE_FILE)
        return file.read_text(encoding="utf-8")

    def _reader(self, name: str) -> Reader:
        connection = self.connections.resolved(name)
        return backends()[connection.kind].reader(connection)

    def _target(self, name: str) -> Target:
        connection = self.connections.resolved(name)
        return backends()[connection.kind].target(connection)


def written(value: object) -> str:
    """Return a value as a person would write it: dates and durations as their texts."""
    if isinstance(value, timedelta):
        return duration_text(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _planned(planner: Planner, pipeline: Pipeline) -> Plan:
    with located(pipeline.location):
        return planner.plan(pipeline)


def _is_this_machine(address: str) -> bool:
    host = address.partition("://")[2].rpartition(":")[0].strip("[]")
    return host in ("localhost", "127.0.0.1", "::1")
