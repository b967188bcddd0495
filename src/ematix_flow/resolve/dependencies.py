"""Who must run before whom: by depends_on, by a parameter's name, or by a table that is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ematix_flow.declare.project import Project
from ematix_flow.errors import DeclarationError, FlowError, UnknownName
from ematix_flow.resolve.query import FrameFunction, Input, ResolvedQuery
from ematix_flow.resolve.signature import Argument, Role
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.identifiers import physical_name

# Where a database puts a table whose schema is not named.
_DEFAULT_SCHEMAS = {"postgres": "public", "duckdb": "main", "sqlite": "main"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """One pipeline after another, and how we know."""

    upstream: str
    why: str


def dependencies(
    project: Project, resolved: Callable[[Pipeline], Input], dialect_of: Callable[[str], str]
) -> dict[str, tuple[Dependency, ...]]:
    """Return what each pipeline comes after.

    A query that cannot be resolved tells nothing here; planning that pipeline tells why.
    `depends_on=[]` says: none, whatever is read.
    """
    writers = _writers(project, dialect_of)
    return {
        pipeline.name: _of(pipeline, project, writers, resolved, dialect_of)
        for pipeline in project.pipelines.values()
    }


Writers = dict[tuple[str, str, str | None], list[str]]


def _writers(project: Project, dialect_of: Callable[[str], str]) -> Writers:
    found: Writers = {}
    for pipeline in project.pipelines.values():
        for target in pipeline.targets:
            key = table_key(target.connection, target.name, dialect_of)
            found.setdefault(key, []).append(pipeline.name)
    return found


def table_key(
    connection: str, table: TableName, dialect_of: Callable[[str], str]
) -> tuple[str, str, str | None]:
    """Return what two names of one table have in common, however they are written."""
    try:
        dialect = dialect_of(connection)
    except FlowError:  # an unknown connection is told when its pipeline is planned
        dialect = ""
    name = physical_name(table, dialect)
    schema = name.schema or _DEFAULT_SCHEMAS.get(dialect)
    return connection, name.name.casefold(), schema.casefold() if schema else None


def _of(
    pipeline: Pipeline,
    project: Project,
    writers: Writers,
    resolved: Callable[[Pipeline], Input],
    dialect_of: Callable[[str], str],
) -> tuple[Dependency, ...]:
    declared = pipeline.timing.depends_on
    found: dict[str, Dependency] = {}
    for upstream in declared or ():
        _require_known(upstream, pipeline, project)
        found.setdefault(upstream, Dependency(upstream=upstream, why="depends_on"))
    if declared == ():
        return ()
    for each in _read(pipeline, project, writers, resolved, dialect_of):
        if each.upstream != pipeline.name:
            found.setdefault(each.upstream, each)
    return tuple(found[name] for name in sorted(found))


def _require_known(upstream: str, pipeline: Pipeline, project: Project) -> None:
    if upstream not in project.pipelines:
        raise UnknownName.among(
            f"pipeline in depends_on of {pipeline.name!r}:",
            upstream,
            project.pipelines,
            where=pipeline.location,
        )
    if upstream == pipeline.name:
        raise DeclarationError(
            f"pipeline {pipeline.name!r} depends on itself",
            where=pipeline.location,
            hint="take it out of depends_on; to read its own target it needs no dependency",
        )


def _read(
    pipeline: Pipeline,
    project: Project,
    writers: Writers,
    resolved: Callable[[Pipeline], Input],
    dialect_of: Callable[[str], str],
) -> Iterator[Dependency]:
    try:
        read = resolved(pipeline)
    except FlowError:
        return
    match read:
        case ResolvedQuery(connection=connection, tables=tables, arguments=arguments):
            for table in tables:
                for writer in writers.get(table_key(connection, table, dialect_of), ()):
                    yield Dependency(upstream=writer, why=f"reads {table}")
            # A pipeline that is asked for comes first even if the text does not name its table;
            # a declared table may be that of another database.
            asked = tuple(each for each in arguments if each.role is Role.PIPELINE)
            yield from _by_parameter(asked, project, writers, dialect_of)
        case FrameFunction(arguments=arguments):
            yield from _by_parameter(arguments, project, writers, dialect_of)


def _by_parameter(
    arguments: tuple[Argument, ...],
    project: Project,
    writers: Writers,
    dialect_of: Callable[[str], str],
) -> Iterator[Dependency]:
    for argument in arguments:
        if argument.role is Role.PIPELINE:
            yield Dependency(upstream=argument.stands_for, why=f"parameter {argument.name}")
        if argument.role is Role.TABLE:
            table = project.tables[argument.stands_for].name
            for key, names in writers.items():
                if key == table_key(key[0], table, dialect_of):
                    for writer in names:
                        yield Dependency(upstream=writer, why=f"parameter {argument.name}")
