"""A load whose steps databases can do: what is read, and what the target wants of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ematix_flow.plan.steps import (
    Arrange,
    CallAfter,
    Commit,
    Normalize,
    Prepare,
    ReadQuery,
    Reshape,
    Restrict,
    RunAfter,
    Stage,
    Step,
    Validate,
)
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.transform import FilterWhere
from ematix_flow.spec.types import DataType
from ematix_flow.spec.window import Window
from ematix_flow.sqltext.in_database import Unproven, Wanted
from ematix_flow.sqltext.in_database.order import cursor_kind

# The SQL that is known to mean the same as Spark's: tests compare the paths on these.
BUILT = ("postgres", "duckdb", "sqlite", "mysql", "mariadb")

_SHAPING = (Restrict, Reshape, Arrange, Normalize)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainLoad:
    """The steps of a load that needs no Spark.

    :param kept: Conditions on the rows of the query; the others are left out.
    :param shaping: What happens to the rows between the query and the rules.
    """

    pipeline: Pipeline
    read: ReadQuery
    validate: Validate
    commit: Commit
    arrange: Arrange | None = None
    window: Window | None = None
    kept: tuple[str, ...] = ()
    shaping: tuple[Restrict | Reshape | Arrange | Normalize, ...] = ()

    @classmethod
    def of(cls, pipeline: Pipeline, steps: Sequence[Step]) -> PlainLoad:
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
        if not isinstance(read, ReadQuery):
            raise Unproven("its rows are made by Spark, not by a query of the database")
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
            shaping=tuple(step for step in steps if isinstance(step, _SHAPING)),
        )

    def wanted(self, query: str, dialect: str) -> Wanted:
        """Return what the target wants of *query*, which its own database runs."""
        arrange = self.arrange
        return Wanted(
            query=query,
            dialect=dialect,
            layout=self.commit.layout,
            table=self.validate.contract.table,
            location=self.pipeline.location,
            column_map=arrange.column_map if arrange else (),
            deletes=arrange.deletes if arrange else None,
            cursor=arrange.cursor if arrange else None,
            kept=self.kept,
        )

    def require_exact_window(self, kinds: Sequence[tuple[str, DataType | None]]) -> None:
        """Refuse a window that the query itself does not keep to exactly (see `sqltext.window`).

        :param kinds: The columns of the query, as its source has them.
        """
        window = self.window
        if window is None or not window.bounds:
            return
        found = [kind for name, kind in kinds if name.casefold() == window.column.casefold()]
        if not found:
            raise Unproven(f"the query does not return {window.column} under this name")
        kind = cursor_kind(found[0], window.column)
        others = {bound.cursor.kind for bound in window.bounds} - {kind}
        if others or (self.read.dialect == "sqlite" and kind.is_time):
            raise Unproven(f"only Spark compares {window.column} with {window}")


def _require_simple(pipeline: Pipeline) -> None:
    if len(pipeline.targets) > 1:
        raise Unproven("it has several targets, which share one reading")
    if pipeline.quality.expectations:
        raise Unproven("it has expectations, which Spark counts")
