"""The pipeline's function becomes what is read: a query, or frame code for the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.declare.project import Project
from ematix_flow.errors import DeclarationError
from ematix_flow.resolve.call import call_function
from ematix_flow.resolve.handles import ForeignHandle, NeedsSpark, SourceHandle, TableHandle
from ematix_flow.resolve.signature import Argument, Role, arguments_of
from ematix_flow.resolve.table_names import named_table
from ematix_flow.resolve.views import over_views
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.source import Source
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.dialect import known_dialect, parse_query
from ematix_flow.sqltext.functions import called_functions
from ematix_flow.sqltext.identifiers import physical_name
from ematix_flow.sqltext.references import table_references


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a connection's queries run."""

    kind: str
    dialect: str
    """The SQL spoken there: the database's own, or Spark's for files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedQuery:
    """A query in the dialect of where it runs, and what it reads.

    :param written: The query as the user wrote it, in *written_dialect*.
    :param arguments: What the function was given, whether its text names it or not.
    """

    connection: str
    text: str
    dialect: str
    written: str
    written_dialect: str
    expression: exp.Query
    tables: tuple[TableName, ...]
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameFunction:
    """Frame code: what it reads is known only by running it on Spark."""

    arguments: tuple[Argument, ...]
    connection: str | None


Input = ResolvedQuery | FrameFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResolver:
    """Resolves the pipelines of one project.

    :param place_of: Where the queries of a connection run, by its name.
    """

    project: Project
    place_of: Callable[[str], Place]

    def resolve(self, pipeline: Pipeline) -> Input:
        """Call the function with names instead of rows, and read what it returns."""
        arguments = arguments_of(pipeline, self.project)
        if pipeline.read.source_table is not None:
            whole = self._whole_table(pipeline, pipeline.read.source_table)
            return replace(whole, arguments=arguments)
        connection = pipeline.source_connection or self._implied(arguments)
        if any(argument.role is Role.SPARK for argument in arguments):
            return FrameFunction(arguments=arguments, connection=connection)
        dialect = self._dialect(pipeline, connection)
        try:
            values = {
                argument.name: self._handle(argument, pipeline, connection, dialect)
                for argument in arguments
            }
            returned = call_function(pipeline, values)
        except NeedsSpark:
            return FrameFunction(arguments=arguments, connection=connection)
        if isinstance(returned, str) and _any_foreign(values.values()):
            # SQL runs in one place; frames, and SQL over them, can come from anywhere.
            return FrameFunction(arguments=arguments, connection=connection)
        return self._returned(pipeline, returned, arguments, connection)

    def _returned(
        self,
        pipeline: Pipeline,
        returned: object,
        arguments: tuple[Argument, ...],
        connection: str | None,
    ) -> Input:
        match returned:
            case str():
                query = self._query(pipeline, returned, self._required(pipeline, connection))
                return replace(query, arguments=arguments)
            case Source():
                place = self.place_of(returned.connection)
                if returned.kind not in (None, place.kind):
                    raise DeclarationError(
                        f"pipeline {pipeline.name!r} returned Source.{returned.kind}_query, but "
                        f"connection {returned.connection!r} is {place.kind}",
                        where=pipeline.location,
                        hint=f"name a {returned.kind} connection, or return a plain Source(...)",
                    )
                query = self._query(pipeline, returned.query, returned.connection)
                return replace(query, arguments=arguments)
            case None:
                raise DeclarationError(
                    f"pipeline {pipeline.name!r} returned nothing",
                    where=pipeline.location,
                    hint="return the SELECT, or set source_table= to read a table whole",
                )
            case _ if _is_frame(returned) or isinstance(returned, TableHandle):
                return FrameFunction(arguments=arguments, connection=connection)
            case _:
                raise DeclarationError(
                    f"pipeline {pipeline.name!r} returned {type(returned).__name__}; it returns "
                    "SQL text, a Source, or a Spark, pandas, polars or pyarrow frame",
                    where=pipeline.location,
                    hint="return the SELECT, or set source_table= to read a table whole",
                )

    def _whole_table(self, pipeline: Pipeline, name: str) -> ResolvedQuery:
        connection = self._required(pipeline, pipeline.source_connection)
        whole = exp.select("*").from_(named_table(name, pipeline.location))
        place = self.place_of(connection)
        text = whole.sql(dialect=place.dialect)
        return ResolvedQuery(
            connection=connection,
            text=text,
            dialect=place.dialect,
            written=text,
            written_dialect=place.dialect,
            expression=whole,
            tables=table_references(whole),
        )

    def _query(self, pipeline: Pipeline, text: str, connection: str) -> ResolvedQuery:
        where = pipeline.location
        place = self.place_of(connection)
        written_in = self._dialect(pipeline, connection)
        query = parse_query(text, dialect=written_in, where=where)
        own = text.strip().rstrip(";")
        runs_in, runs = place.dialect, query
        udfs = frozenset(name.lower() for name in self.project.udfs)
        if udfs and place.dialect != "spark" and called_functions(query) & udfs:
            # Python functions run on Spark, so the tables come to them.
            runs_in, runs = "spark", over_views(query)
        return ResolvedQuery(
            connection=connection,
            text=own
            if written_in == runs_in and runs is query
            else _translated(runs, written_in, runs_in, where, udfs),
            dialect=runs_in,
            written=own,
            written_dialect=written_in,
            expression=query,
            tables=table_references(query),
        )

    def _dialect(self, pipeline: Pipeline, connection: str | None) -> str:
        if pipeline.read.dialect is not None:
            return known_dialect(pipeline.read.dialect, pipeline.location)
        return self.place_of(connection).dialect if connection else "spark"

    def _required(self, pipeline: Pipeline, connection: str | None) -> str:
        if connection is None:
            raise DeclarationError(
                f"pipeline {pipeline.name!r} has a query, but no source_connection to run it in",
                where=pipeline.location,
                hint='pass its name: source_connection="app"',
            )
        return connection

    def _implied(self, arguments: tuple[Argument, ...]) -> str | None:
        """Return where the upstream pipelines write, if that is one place."""
        places = {
            self.project.pipelines[each.stands_for].target.connection
            for each in arguments
            if each.role is Role.PIPELINE
        }
        return places.pop() if len(places) == 1 else None

    def _handle(
        self, argument: Argument, pipeline: Pipeline, connection: str | None, dialect: str
    ) -> object:
        match argument.role:
            case Role.SOURCE:
                name = self._required(pipeline, connection)
                return SourceHandle(connection=name, kind=self.place_of(name).kind)
            case Role.TARGET:
                return self._table_handle(pipeline.target.name, connection, dialect)
            case Role.PIPELINE:
                upstream = self.project.pipelines[argument.stands_for].target
                if upstream.connection != connection:
                    refusal = _foreign(argument, upstream.connection, pipeline, connection)
                    return ForeignHandle(upstream.name, dialect, refusal)
                return self._table_handle(upstream.name, connection, dialect)
            case Role.TABLE:
                declared = self.project.tables[argument.stands_for].name
                return self._table_handle(declared, connection, dialect)
            case Role.SPARK:
                raise NeedsSpark

    def _table_handle(self, name: TableName, connection: str | None, dialect: str) -> TableHandle:
        """Return the table by the name that it has where the query runs."""
        there = self.place_of(connection).dialect if connection else dialect
        return TableHandle(physical_name(name, there), dialect)


def _any_foreign(values: Iterable[object]) -> bool:
    return any(isinstance(each, ForeignHandle) for each in values)


def _foreign(
    argument: Argument, lies_in: str, pipeline: Pipeline, connection: str | None
) -> DeclarationError:
    runs_in = f"the query runs in {connection!r}" if connection else "they do not lie in one place"
    return DeclarationError(
        f"pipeline {pipeline.name!r} puts {{{argument.name}}} into its SQL, but "
        f"{argument.stands_for} writes to {lies_in!r}, and {runs_in}",
        where=pipeline.location,
        hint=f"write FROM {argument.name}, without braces, to have Spark run it over the frames",
    )


def _translated(
    query: exp.Query, read: str, write: str, where: Location, udfs: frozenset[str]
) -> str:
    if read == write:
        return query.sql(dialect=write)  # the same dialect, but over views
    # Imported by those who need it: its tables of functions take a while to load.
    from ematix_flow.sqltext.translate import translate

    return translate(query, read=read, write=write, where=where, udfs=udfs)


def _is_frame(value: object) -> bool:
    module = type(value).__module__.partition(".")[0]
    return module in ("pyspark", "pandas", "polars", "pyarrow")
