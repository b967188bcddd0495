"""The Project: everything user modules declared, in one place."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from ematix_flow._base.location import Location
from ematix_flow.connections.model import Connection
from ematix_flow.errors import DeclarationError, UnknownName
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import Table
from ematix_flow.spec.transform import Transform
from ematix_flow.spec.udf import UserFunction
from ematix_flow.spec.workflow import Workflow


@dataclass(slots=True)
class Project:
    """What has been declared so far. Decorators add to the active one.

    :param overrides: `[pipelines.<name>]` of the project's TOML, found in *overridden_in*.
    """

    connections: dict[str, Connection] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    pipelines: dict[str, Pipeline] = field(default_factory=dict)
    transforms: dict[str, Transform] = field(default_factory=dict)
    workflows: dict[str, Workflow] = field(default_factory=dict)
    udfs: dict[str, UserFunction] = field(default_factory=dict)
    overrides: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    overridden_in: str = ""
    _cells: set[tuple[str, str]] = field(default_factory=set, init=False, repr=False, compare=False)

    def add_connection(self, connection: Connection, location: Location) -> None:
        """Add a connection; a second one of the name is an error naming both lines."""
        first = self.connections.get(connection.name)
        self._claim("connection", connection.name, first and first.origin, location)
        self.connections[connection.name] = connection

    def add_table(self, table: Table) -> None:
        """Add a table; a second one of the name is an error naming both lines."""
        first = self.tables.get(str(table.name))
        self._claim("table", str(table.name), first and first.location, table.location)
        self.tables[str(table.name)] = table

    def add_pipeline(self, pipeline: Pipeline) -> None:
        """Add a pipeline; another one, or a workflow, of the name is an error naming both lines."""
        first = self.pipelines.get(pipeline.name) or self.workflows.get(pipeline.name)
        self._claim("pipeline", pipeline.name, first and first.location, pipeline.location)
        self.pipelines[pipeline.name] = pipeline

    def add_transform(self, transform: Transform) -> None:
        """Add a transform; a second one of the name is an error naming both lines."""
        first = self.transforms.get(transform.name)
        self._claim("transform", transform.name, first and first.location, transform.location)
        self.transforms[transform.name] = transform

    def add_workflow(self, workflow: Workflow) -> None:
        """Add a workflow; a pipeline or another workflow of the name is an error."""
        first = self.workflows.get(workflow.name) or self.pipelines.get(workflow.name)
        self._claim("workflow", workflow.name, first and first.location, workflow.location)
        self.workflows[workflow.name] = workflow

    def _claim(self, what: str, name: str, first: object, second: Location) -> None:
        """Take a name for a declaration; only what a cell of a notebook declared may be replaced.

        A cell runs again, and after a change it has another name, but neither is a file.
        """
        is_cell = self is _of_the_script and _is_interactive() and not Path(second.file).is_file()
        if first is not None and not (is_cell and (what, name) in self._cells):
            raise DeclarationError(
                f"{what} {name!r} is declared twice: here and at {first}",
                where=second,
                hint="rename one of them",
            )
        if is_cell:
            self._cells.add((what, name))

    def overrides_of(self, name: str) -> Mapping[str, object]:
        """Return what the project's TOML says of a pipeline."""
        return self.overrides.get(name, {})

    def check_overrides(self) -> None:
        """Refuse settings for a pipeline that nobody declares: they would be ignored."""
        for name in self.overrides:
            if name not in self.pipelines:
                raise UnknownName.among(
                    "pipeline", name, self.pipelines, where=f"{self.overridden_in} [pipelines]"
                )

    def add_udf(self, udf: UserFunction) -> None:
        """Add a function for SQL; a second one of the name is an error naming both lines."""
        first = self.udfs.get(udf.name)
        self._claim("UDF", udf.name, first and first.location, udf.location)
        self.udfs[udf.name] = udf

    def pipeline(self, name: str) -> Pipeline:
        """Return the pipeline of that name, or say which one was probably meant."""
        if name not in self.pipelines:
            raise UnknownName.among(
                "pipeline", name, self.pipelines, hint="`flow list` shows what is declared"
            )
        return self.pipelines[name]


def _is_interactive() -> bool:
    """Tell whether somebody types: a script that is piped in is no file either."""
    return hasattr(sys, "ps1") or "IPython" in sys.modules


_active: ContextVar[Project | None] = ContextVar("ematix_flow_project", default=None)
# What a plain script declares: one for all of its threads, whose contexts begin empty.
_of_the_script = Project()


def active_project() -> Project:
    """Return the project being loaded, or that of a plain script."""
    return _active.get() or _of_the_script


@contextmanager
def declaring_into(project: Project) -> Iterator[None]:
    """Make *project* the one that decorators add to."""
    token = _active.set(project)
    try:
        yield
    finally:
        _active.reset(token)
