"""A load whose steps databases can do: what is read, and what the target wants of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ematix_flow.plan.steps import (
    Arrange,
    LoadSteps,
    Normalize,
    ReadQuery,
    Reshape,
    Restrict,
    RowStep,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainLoad:
    """A load that needs no Spark.

    :param kept: Conditions on the rows of the query; the others are left out.
    :param shaping: What happens to the rows between the query and the rules.
    """

    pipeline: Pipeline
    read: ReadQuery
    load: LoadSteps
    window: Window | None = None
    kept: tuple[str, ...] = ()
    shaping: tuple[Restrict | Reshape | Arrange | Normalize, ...] = ()

    @classmethod
    def of(cls, pipeline: Pipeline, rows: Sequence[RowStep], load: LoadSteps) -> PlainLoad:
        """Sort the steps that Spark would walk; Unproven where one of them is for Spark alone."""
        _require_simple(pipeline)
        read: ReadQuery | None = None
        window: Window | None = None
        kept: list[str] = []
        shaping: list[Restrict | Reshape | Arrange | Normalize] = []
        for step in rows:
            match step:
                case ReadQuery(known_as=None):
                    read = step
                    continue
                case Restrict():
                    window = step.window
                case Reshape(change=FilterWhere(condition=condition)):
                    kept.append(condition)
                case Reshape():
                    raise Unproven("transforms_pre hold what only Spark does")
                case _:
                    raise Unproven("its rows are made by Spark, not by a query of the database")
            shaping.append(step)
        assert read is not None, "whatever else makes rows was refused above"
        if load.contract.drifted:
            raise Unproven("what does not fit its target is let go by Spark")
        shaping += (step for step in load.shape if not isinstance(step, Validate))
        return cls(
            pipeline=pipeline,
            read=read,
            load=load,
            window=window,
            kept=tuple(kept),
            shaping=tuple(shaping),
        )

    def wanted(self, query: str, dialect: str) -> Wanted:
        """Return what the target wants of *query*, which its own database runs."""
        arrange = self.load.arrange
        return Wanted(
            query=query,
            dialect=dialect,
            layout=self.load.commit.layout,
            table=self.load.contract.table,
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
