"""The Project: everything user modules declared, in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ematix_flow._base.location import Location
from ematix_flow.connections.model import Connection
from ematix_flow.errors import DeclarationError, UnknownName
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import Table


@dataclass(slots=True)
class Project:
    """What has been declared so far. Decorators add to the active one."""

    connections: dict[str, Connection] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    pipelines: dict[str, Pipeline] = field(default_factory=dict)

    def add_connection(self, connection: Connection, location: Location) -> None:
        """Add a connection; a second one of the name is an error naming both lines."""
        first = self.connections.get(connection.name)
        if first is not None:
            raise _twice("connection", connection.name, first.origin, location)
        self.connections[connection.name] = connection

    def add_table(self, table: Table) -> None:
        """Add a table; a second one of the name is an error naming both lines."""
        first = self.tables.get(str(table.name))
        if first is not None:
            raise _twice("table", str(table.name), first.location, table.location)
        self.tables[str(table.name)] = table

    def add_pipeline(self, pipeline: Pipeline) -> None:
        """Add a pipeline; a second one of the name is an error naming both lines."""
        first = self.pipelines.get(pipeline.name)
        if first is not None:
            raise _twice("pipeline", pipeline.name, first.location, pipeline.location)
        self.pipelines[pipeline.name] = pipeline

    def pipeline(self, name: str) -> Pipeline:
        """Return the pipeline of that name, or say which one was probably meant."""
        if name not in self.pipelines:
            raise UnknownName.among(
                "pipeline", name, self.pipelines, hint="`flow list` shows what is declared"
            )
        return self.pipelines[name]


def _twice(what: str, name: str, first: object, second: Location) -> DeclarationError:
    return DeclarationError(
        f"{what} {name!r} is declared twice: here and at {first}",
        where=second,
        hint="rename one of them",
    )


_active: ContextVar[Project | None] = ContextVar("ematix_flow_project", default=None)


def active_project() -> Project:
    """Return the project being loaded, or a new one for a plain script."""
    project = _active.get()
    if project is None:
        project = Project()
        _active.set(project)
    return project


@contextmanager
def declaring_into(project: Project) -> Iterator[None]:
    """Make *project* the one that decorators add to."""
    token = _active.set(project)
    try:
        yield
    finally:
        _active.reset(token)
