"""The engine of a project: which, how large, and where it and this process both see a disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow._base.clock import Clock
from ematix_flow._base.files import PRIVATE_FILE, write_whole
from ematix_flow._base.ids import uuid7
from ematix_flow.declare.config import ProjectConfig
from ematix_flow.declare.project import Project
from ematix_flow.engine.choice import EngineChoice, EngineKind, choose
from ematix_flow.engine.host.machine import Machine, this_machine
from ematix_flow.engine.spark.sizing import Sizing, size
from ematix_flow.errors import PlanError, UsageError
from ematix_flow.plan.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ematix_flow.engine.server.status import ServerStatus
    from ematix_flow.engine.spark.opened import OpenEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """Opens engines for the pipelines of one project.

    :param asked: The engine that the caller asked for.
    :param session: The caller's own session, where there is one.
    """

    config: ProjectConfig
    project: Project
    environ: Mapping[str, str] = field(repr=False)
    clock: Clock
    asked: str | None
    session: SparkSession | None

    def choice(self, name: str | None = None) -> EngineChoice:
        """Return the engine that a pipeline (or a pipeline without a wish) would run on."""
        return choose(
            self.asked,
            self.environ,
            self.config.engine,
            pipeline=self.project.pipeline(name) if name else None,
            auto=self.config.auto,
        )

    def sizing(self, plan: Plan, machine: Machine | None = None) -> Sizing:
        """Return how the engine would be set up for a plan."""
        kind = self.choice(plan.pipeline).kind
        return self._size(plan.input_bytes, kind, machine or this_machine())

    def opener(self, plan: Plan) -> Callable[[], AbstractContextManager[OpenEngine]]:
        """Return what opens the engine for a run of *plan*, when it is needed."""

        def opener() -> AbstractContextManager[OpenEngine]:
            from ematix_flow.engine.opening import open_engine
            from ematix_flow.engine.spark.borrowed import borrow

            if self.session is not None:
                return borrow(self.session, self.sizing(plan).session_conf())
            return open_engine(
                self.choice(plan.pipeline),
                sizing=self.sizing(plan),
                connectors=(*plan.connectors, *self.config.connectors),
                state_dir=self.config.state_directory,
            )

        return opener

    def for_reading(self, connectors: Sequence[str]) -> AbstractContextManager[OpenEngine]:
        """Open the engine for reading one source."""
        from ematix_flow.engine.opening import open_engine

        choice = self.choice()
        return open_engine(
            choice,
            sizing=self._size(None, choice.kind, this_machine()),
            connectors=(*connectors, *self.config.connectors),
            state_dir=self.config.state_directory,
        )

    def start(self, connectors: Sequence[str], *, idle_minutes: float) -> ServerStatus:
        """Start the warm Spark with what every pipeline of the project needs."""
        from ematix_flow.engine.host.installed import require_classic, require_pyspark
        from ematix_flow.engine.server import server
        from ematix_flow.engine.server.wanted import wanted_for

        choice = self.choice()
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
            connectors=(*connectors, *self.config.connectors),
            state_dir=self.config.state_directory,
        )
        return server.start(self.config.state_directory, wanted, idle_minutes=idle_minutes)

    def staging_root(self, name: str) -> Path:
        """Return where rows are staged: a disk that the engine and this process both see."""
        if self.config.staging_path is not None:
            # Others may stage on that disk too, under the same pipeline names.
            return self.config.directory / self.config.staging_path / self.project_id()
        choice = self.choice(name)
        if choice.kind in ("master", "connect") and not _is_this_machine(choice.address):
            raise PlanError(
                f"engine {choice.address} does not share this machine's disk, "
                "and rows are staged on it",
                where=self.config.origin,
                hint='set staging_path = "..." to a folder that both see',
            )
        return self.config.state_directory / "staging"

    def project_id(self) -> str:
        """Return this project's own id, made once."""
        file = self.config.state_directory / "project-id"
        if not file.exists():
            write_whole(file, str(uuid7(self.clock.now())).encode(), mode=PRIVATE_FILE)
        return file.read_text(encoding="utf-8")

    def _size(self, input_bytes: int | None, kind: EngineKind, machine: Machine) -> Sizing:
        return size(machine, input_bytes, self.config.spark, engine=kind, set_in=self.config.origin)


def _is_this_machine(address: str) -> bool:
    host = address.partition("://")[2].rpartition(":")[0].strip("[]")
    return host in ("localhost", "127.0.0.1", "::1")
