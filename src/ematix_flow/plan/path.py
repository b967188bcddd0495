"""Where a pipeline's rows go through: their own database, this process, or Spark; and why.

Read from the steps that Spark would walk: where databases can do the same to the rows, in SQL
that is known to mean the same there, other steps take the place of those.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ematix_flow._base.sizes import shown_bytes
from ematix_flow.errors import NotSupported, PlanError, QueryError, SourceError
from ematix_flow.plan.direct import carried_directly
from ematix_flow.plan.in_database import selected_in_database
from ematix_flow.plan.steps import LoadSteps, ReadQuery, ReadRelation, RowStep
from ematix_flow.plan.without_spark import PlainLoad
from ematix_flow.ports import StateReader
from ematix_flow.spec.modes import Path
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.sqltext.in_database import Unproven


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChoice:
    """Where the rows go through, why, and the steps of that path."""

    path: Path
    why: str
    rows: tuple[RowStep, ...]
    loads: tuple[LoadSteps, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PathChooser:
    """Chooses the path of a run.

    :param rows: What makes the rows on Spark.
    :param loads: What brings them into each target then.
    :param why_spark: Why Spark reads what it reads, then.
    :param dialect: The SQL of the (first) target.
    :param input_bytes: How much is read, as far as it is known.
    :param direct_bytes: Up to how much this process carries itself.
    """

    pipeline: Pipeline
    rows: tuple[RowStep, ...]
    loads: tuple[LoadSteps, ...]
    why_spark: str
    dialect: str
    state: StateReader
    input_bytes: int | None
    direct_bytes: int

    def choose(self) -> PathChoice:
        """Return the shortest path that the rows can take, or the one that is asked for."""
        forced = self.pipeline.force_path
        if forced is Path.SPARK:
            return self._on_spark(f"{self.why_spark}; force_path='spark' says so")
        paths = {Path.IN_DATABASE: self._in_database, Path.DIRECT: self._direct}
        reasons = []
        for path in (forced,) if forced else paths:
            try:
                return paths[path]()
            except Unproven as unproven:
                reasons.append(str(unproven))
            except (SourceError, QueryError, NotSupported) as error:
                reasons.append(f"the database cannot describe the query yet: {error.what}")
        if forced is not None:
            raise PlanError(
                f"pipeline {self.pipeline.name!r} asks for force_path={forced.value!r}, "
                f"but {reasons[0]}",
                where=self.pipeline.location,
                hint="leave force_path out to let the rows go where they can",
            )
        # Why it does not stay at home matters only to rows that are there.
        reason = reasons[0] if self._is_at_home() else reasons[-1]
        return self._on_spark(f"{self.why_spark}; not without Spark, because {reason}")

    def _on_spark(self, why: str) -> PathChoice:
        return PathChoice(path=Path.SPARK, why=why, rows=self.rows, loads=self.loads)

    def _in_database(self) -> PathChoice:
        plain = PlainLoad.of(self.pipeline, self.rows, self.loads[0])
        select = selected_in_database(plain, self.dialect, self.state)
        return PathChoice(
            path=Path.IN_DATABASE,
            why=f"the query and its target are both in {select.connection}: no row leaves it",
            rows=(),
            loads=(replace(self.loads[0], shape=(), source=select),),
        )

    def _direct(self) -> PathChoice:
        plain = PlainLoad.of(self.pipeline, self.rows, self.loads[0])
        if self.pipeline.force_path is None and (self.input_bytes or 0) > self.direct_bytes:
            raise Unproven(
                f"its input of {self.input_bytes:,} bytes is more than direct_up_to "
                f"({shown_bytes(self.direct_bytes)})"
            )
        carry, select = carried_directly(plain, self.dialect, self.state)
        return PathChoice(
            path=Path.DIRECT,
            why=f"{plain.read.connection} runs the query and {carry.connection} does the rest: "
            "this process only carries the rows",
            rows=(),
            loads=(replace(self.loads[0], shape=(), carry=carry, source=select),),
        )

    def _is_at_home(self) -> bool:
        """Tell whether everything that is read lies where it is written."""
        targets = {load.commit.connection for load in self.loads}
        read = {step.connection for step in self.rows if isinstance(step, ReadQuery | ReadRelation)}
        return len(targets) == 1 and read == targets
