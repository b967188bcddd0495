"""The steps from the sources to the pipeline's own rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from ematix_flow.declare.project import Project
from ematix_flow.errors import FlowError, NotSupported, SourceError, SourceMissing
from ematix_flow.plan.columns import result_columns
from ematix_flow.plan.pairing import SPARK, Backends
from ematix_flow.plan.steps import CallFunction, ReadQuery, ReadRelation, Transform
from ematix_flow.ports import ActualColumn, SourceFacts, StateReader
from ematix_flow.resolve.dependencies import Dependency
from ematix_flow.resolve.query import FrameFunction, Input, ResolvedQuery
from ematix_flow.resolve.signature import Argument, Role
from ematix_flow.resolve.views import view_name
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.table import Table, TableName
from ematix_flow.spec.window import Window
from ematix_flow.sqltext.functions import used_functions
from ematix_flow.sqltext.identifiers import physical_name, table
from ematix_flow.sqltext.type_names import held_columns
from ematix_flow.sqltext.window import within

Read = ReadRelation | ReadQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the rows come about, and why on this path."""

    reads: tuple[Read, ...]
    makes: Transform | CallFunction | None
    why: str

    def steps(self) -> tuple[Read | Transform | CallFunction, ...]:
        """Return them in order."""
        return (*self.reads, *((self.makes,) if self.makes is not None else ()))

    def within(self, window: Window, query: ResolvedQuery) -> Reading:
        """Return the same reading, with what lies outside of *window* left in the source."""
        columns = result_columns(query.expression)
        if columns is None and query.tables and len(self.reads) == 1:
            known = self.reads[0].facts.columns
            columns = tuple(each.name for each in known) if known else None
        spelt = {name.casefold(): name for name in columns or ()}
        name = spelt.get(window.column.casefold(), window.column)
        return replace(
            self,
            reads=tuple(
                replace(read, query=within(read.query, window, read.dialect, name))
                if isinstance(read, ReadQuery) and read.known_as is None
                else read
                for read in self.reads
            ),
        )

    @property
    def input_bytes(self) -> int | None:
        """The size of what is read, as far as it is known."""
        sizes = [step.facts.size_bytes for step in self.reads]
        return sum(size for size in sizes if size is not None) if any(sizes) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPlanner:
    """Plans the reading of one pipeline."""

    pipeline: Pipeline
    project: Project
    backends: Backends
    state: StateReader
    after: tuple[Dependency, ...]

    def plan(self, given: Input) -> Reading:
        """Return the steps that produce the pipeline's rows."""
        match given:
            case ResolvedQuery():
                return self._query(given)
            case FrameFunction():
                return self._function(given)

    def _query(self, query: ResolvedQuery) -> Reading:
        kind = self.backends.of(query.connection).kind
        if query.dialect != SPARK:
            read = ReadQuery(
                connection=query.connection,
                query=query.text,
                dialect=query.dialect,
                facts=self._facts_of(query),
            )
            why = f"the query runs in {query.connection} ({kind}), Spark carries its result"
            return Reading(reads=(read,), makes=None, why=why)
        why = f"{kind} files are read and queried by Spark"
        known_as: dict[TableName, str | None] = dict.fromkeys(query.tables)
        if self.backends.place_of(query.connection).dialect != SPARK:
            known_as = {name: view_name(name) for name in query.tables}
            why = f"the query calls Python functions, so Spark runs it over tables of {kind}"
        reads = tuple(self._table(query.connection, *pair) for pair in known_as.items())
        udfs = used_functions(query.expression, self.project.udfs, self.pipeline.location)
        return Reading(reads=reads, makes=Transform(query=query.text, udfs=udfs), why=why)

    def _function(self, given: FrameFunction) -> Reading:
        reads = tuple(
            self._argument(argument, given)
            for argument in given.arguments
            if argument.role in (Role.PIPELINE, Role.TABLE)
        )
        call = CallFunction(
            pipeline=self.pipeline,
            arguments=given.arguments,
            source_connection=given.connection,
            source=self.backends.place_of(given.connection) if given.connection else None,
            udfs=tuple(self.project.udfs.values()),
        )
        why = "the function works on frames; what it reads beyond its parameters is not analysed"
        return Reading(reads=reads, makes=call, why=why)

    def _argument(self, argument: Argument, given: FrameFunction) -> Read:
        if argument.role is Role.PIPELINE:
            target = self.project.pipelines[argument.stands_for].target
            return self._table(target.connection, target.name, known_as=argument.name)
        declared = self.project.tables[argument.stands_for].name
        connection = self._home_of(declared, given)
        return self._table(connection, declared, known_as=argument.name)

    def _home_of(self, declared: TableName, given: FrameFunction) -> str:
        """Return where a declared table lies: where a pipeline writes it, else the source."""
        homes = {
            target.connection
            for pipeline in self.project.pipelines.values()
            for target in pipeline.targets
            if target.name == declared and pipeline.name != self.pipeline.name
        }
        if given.connection is not None and (not homes or given.connection in homes):
            return given.connection
        if len(homes) == 1:
            return homes.pop()
        raise NotSupported(
            f"pipeline {self.pipeline.name!r} takes the table {declared}, and it is not known "
            f"which connection it lies in (written to: {', '.join(sorted(homes)) or 'none'})",
            where=self.pipeline.location,
            hint='say so: source_connection="..."',
        )

    def _table(self, connection: str, name: TableName, known_as: str | None = None) -> Read:
        can = self.backends.of(connection)
        place = self.backends.place_of(connection)
        if place.dialect == SPARK:
            facts = self._look_at(connection, _file_relation(name), name)
            return ReadRelation(
                connection=connection, relation=name.name, facts=facts, known_as=known_as
            )
        there = physical_name(name, can.dialect)
        facts = self._look_at(connection, str(there), name)
        whole = exp.select("*").from_(table(there)).sql(dialect=can.dialect)
        return ReadQuery(
            connection=connection,
            query=whole,
            dialect=can.dialect,
            facts=facts,
            relation=str(there),
            known_as=known_as,
        )

    def _facts_of(self, query: ResolvedQuery) -> SourceFacts:
        """Look at the source and at every table of the query: a misspelt one is found here."""
        facts = self._look_at(query.connection, None)
        tables = [each for name in query.tables if (each := self._table_facts(query, name))]
        if facts.size_bytes is None:
            sizes = [each.size_bytes for each in tables if each.size_bytes is not None]
            return replace(facts, size_bytes=sum(sizes) if sizes else None)
        return facts

    def _table_facts(self, query: ResolvedQuery, name: TableName) -> SourceFacts | None:
        try:
            return self._look_at(query.connection, str(name))
        except SourceMissing:
            # A database may know more than its tables: DuckDB reads files by their names.
            if self._is_answered(query):
                return None
            raise

    def _is_answered(self, query: ResolvedQuery) -> bool:
        try:
            self.state.describe(query.connection, query.text)
        except FlowError:
            return False
        return True

    def _look_at(
        self, connection: str, relation: str | None, name: TableName | None = None
    ) -> SourceFacts:
        try:
            return self.state.source(connection, relation)
        except SourceMissing:
            # What an upstream pipeline creates need not be there yet.
            makers = [
                each.upstream
                for each in self.after
                if self.project.pipelines[each.upstream].target.connection == connection
            ]
            if not makers:
                raise
            return SourceFacts(
                description=f"not there yet: {', '.join(makers)} creates it",
                columns=self._columns_to_come(connection, name),
            )

    def _columns_to_come(
        self, connection: str, name: TableName | None
    ) -> tuple[ActualColumn, ...] | None:
        """Return the columns that an upstream pipeline will have given the table."""
        upstreams = (self.project.pipelines[each.upstream] for each in self.after)
        for target in (target for upstream in upstreams for target in upstream.targets):
            if (target.connection, target.name) != (connection, name):
                continue
            if isinstance(declared := target.table, Table):
                held = held_columns(declared, self.backends.dialect_of(connection))
                return tuple(
                    ActualColumn(name=column.name, type=each.type_name, nullable=column.nullable)
                    for column, each in zip(declared.columns, held, strict=True)
                )
        return None


def _file_relation(name: TableName) -> str:
    if name.schema is not None:
        raise SourceError(
            f"{name}: files have no schemas", hint=f"write {name.name}, or quote the whole name"
        )
    return name.name
