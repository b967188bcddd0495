"""Where a pipeline's rows go through: their own database, or Spark; and why.

Read from the steps that Spark would walk: where the database can do the same to the rows, in SQL
that is known to mean the same there, one step takes the place of them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ematix_flow.errors import PlanError, QueryError, SourceError
from ematix_flow.plan.steps import (
    Arrange,
    CallAfter,
    Commit,
    Normalize,
    Prepare,
    ReadQuery,
    ReadRelation,
    Reshape,
    Restrict,
    RunAfter,
    SelectInTarget,
    Stage,
    Step,
    Validate,
)
from ematix_flow.ports import ActualColumn, StateReader
from ematix_flow.spec.modes import Path
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.transform import FilterWhere
from ematix_flow.spec.window import Window
from ematix_flow.sqltext.dialect_names import grammar_of
from ematix_flow.sqltext.in_database import Selection, Unproven, Wanted, selection
from ematix_flow.sqltext.in_database.order import cursor_kind
from ematix_flow.sqltext.in_database.rows import Describe, kind_of
from ematix_flow.sqltext.sqlite_types import told_by_text

# What is known to mean the same: tests compare both paths on these.
_BUILT = ("postgres", "duckdb", "sqlite", "mysql", "mariadb")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChoice:
    """Where the rows go through, why, and the steps of that path."""

    path: Path
    why: str
    steps: tuple[Step, ...]


def choose_path(
    pipeline: Pipeline, steps: Sequence[Step], why_spark: str, dialect: str, state: StateReader
) -> PathChoice:
    """Choose the path of a run.

    :param steps: What the run would do on Spark.
    :param why_spark: Why Spark reads what it reads, then.
    :param dialect: The SQL of the (first) target.
    """
    forced = pipeline.force_path
    spark = PathChoice(path=Path.SPARK, why=why_spark, steps=tuple(steps))
    if forced is Path.SPARK:
        return PathChoice(
            path=Path.SPARK, why=f"{why_spark}; force_path='spark' says so", steps=spark.steps
        )
    try:
        return _in_database(pipeline, steps, dialect, state)
    except Unproven as reason:
        if forced is Path.IN_DATABASE:
            raise PlanError(
                f"pipeline {pipeline.name!r} asks for force_path='in_database', but {reason}",
                where=pipeline.location,
                hint="leave force_path out to let Spark do it",
            ) from reason
        if not _is_at_home(steps):
            return spark
        return PathChoice(
            path=Path.SPARK,
            why=f"{why_spark}; it cannot stay in the database: {reason}",
            steps=spark.steps,
        )


def _in_database(
    pipeline: Pipeline, steps: Sequence[Step], dialect: str, state: StateReader
) -> PathChoice:
    loading = _Loading.of(pipeline, steps)
    read = loading.read
    if dialect not in _BUILT or grammar_of(dialect) != read.dialect:
        raise Unproven(f"running a load in {dialect} alone is not built yet")

    def describe(query: str) -> tuple[ActualColumn, ...]:
        return state.describe(read.connection, query)

    try:
        described = _described(read.query, dialect, describe)
        _require_exact_window(loading.window, described, dialect)
        chosen = selection(loading.wanted(dialect), loading.validate.contract, described, describe)
    except (SourceError, QueryError) as error:
        raise Unproven(f"the database cannot describe the query yet: {error.what}") from error
    return PathChoice(
        path=Path.IN_DATABASE,
        why=f"the query and its target are both in {read.connection}: no row leaves it",
        steps=tuple(_replaced(steps, loading, chosen)),
    )


def _described(query: str, dialect: str, describe: Describe) -> tuple[ActualColumn, ...]:
    described = describe(query)
    if dialect != "sqlite" or all(each.type for each in described):
        return described
    told = told_by_text(query)
    return tuple(
        each if each.type else replace(each, type=told.get(each.name, "")) for each in described
    )


def _replaced(steps: Sequence[Step], loading: _Loading, chosen: Selection) -> Iterator[Step]:
    for step in steps:
        match step:
            case Prepare() | RunAfter() | CallAfter():
                yield step
            case Commit():
                yield SelectInTarget(
                    connection=loading.read.connection,
                    read=loading.read,
                    selection=chosen,
                    contract=loading.validate.contract,
                )
                yield step
            case _:
                pass


def _is_at_home(steps: Sequence[Step]) -> bool:
    """Tell whether everything that is read lies where it is written."""
    targets = {step.connection for step in steps if isinstance(step, Commit)}
    read = {step.connection for step in steps if isinstance(step, ReadQuery | ReadRelation)}
    return len(targets) == 1 and read == targets


@dataclass(slots=True, kw_only=True)
class _Loading:
    """The steps of a load that its database could do."""

    pipeline: Pipeline
    read: ReadQuery
    validate: Validate
    commit: Commit
    arrange: Arrange | None = None
    window: Window | None = None
    kept: tuple[str, ...] = ()

    @classmethod
    def of(cls, pipeline: Pipeline, steps: Sequence[Step]) -> _Loading:
        """Sort the steps; Unproven where one of them is for Spark."""
        _require_simple(pipeline)
        found: dict[type[Step], Step] = {}
        kept: list[str] = []
        window: Window | None = None
        for step in steps:
            match step:
                case ReadQuery(known_as=None) | Validate() | Arrange() | Commit():
                    found[type(step)] = step
                case Restrict():
                    window = step.window
                case Reshape(change=FilterWhere(condition=condition)):
                    kept.append(condition)
                case Reshape():
                    raise Unproven("transforms_pre hold what only Spark does")
                case Normalize() | Stage() | Prepare() | RunAfter() | CallAfter():
                    pass
                case _:
                    raise Unproven("its rows are made by Spark, not by a query of the database")
        read, commit, validate = found.get(ReadQuery), found[Commit], found[Validate]
        arrange = found.get(Arrange)
        assert isinstance(commit, Commit)
        assert isinstance(validate, Validate)
        assert arrange is None or isinstance(arrange, Arrange)
        if not isinstance(read, ReadQuery) or read.connection != commit.connection:
            raise Unproven("its source and its target are two connections")
        if validate.contract.drifted:
            raise Unproven("what does not fit its target is let go by Spark")
        return cls(
            pipeline=pipeline,
            read=read,
            validate=validate,
            commit=commit,
            arrange=arrange,
            window=window,
            kept=tuple(kept),
        )

    def wanted(self, dialect: str) -> Wanted:
        """Return what the target wants of the query."""
        arrange = self.arrange
        return Wanted(
            query=self.read.query,
            dialect=dialect,
            layout=self.commit.layout,
            table=self.validate.contract.table,
            location=self.pipeline.location,
            column_map=arrange.column_map if arrange else (),
            deletes=arrange.deletes if arrange else None,
            cursor=arrange.cursor if arrange else None,
            kept=self.kept,
        )


def _require_simple(pipeline: Pipeline) -> None:
    if len(pipeline.targets) > 1:
        raise Unproven("it has several targets, which share one reading")
    if pipeline.quality.expectations:
        raise Unproven("it has expectations, which Spark counts")


def _require_exact_window(
    window: Window | None, described: Sequence[ActualColumn], dialect: str
) -> None:
    """Refuse a window that the query itself does not keep to exactly (see `sqltext.window`)."""
    if window is None or not window.bounds:
        return
    column = next(
        (each for each in described if each.name.casefold() == window.column.casefold()), None
    )
    if column is None:
        raise Unproven(f"the query does not return {window.column} under this name")
    kind = cursor_kind(kind_of(column, dialect), window.column)
    others = {bound.cursor.kind for bound in window.bounds} - {kind}
    if others or (dialect == "sqlite" and kind.is_time):
        raise Unproven(f"only Spark compares {window.column} with {window}")
