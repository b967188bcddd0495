"""Planning the pipelines of a project: metadata is read, nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ematix_flow._base.clock import Clock
from ematix_flow.api.engines import Engines
from ematix_flow.api.explanation import Explanation, Unplannable
from ematix_flow.api.installation import Installation
from ematix_flow.api.places import Places
from ematix_flow.declare.config import ProjectConfig
from ematix_flow.declare.direct_limit import direct_limit
from ematix_flow.declare.project import Project
from ematix_flow.engine.host.machine import Machine, this_machine
from ematix_flow.engine.metadata import MetadataReader
from ematix_flow.errors import FlowError, NotSupported, RunsJob, located
from ematix_flow.plan.build import Planner
from ematix_flow.plan.pairing import Backends
from ematix_flow.plan.plan import Plan
from ematix_flow.ports import StateReader
from ematix_flow.resolve.resolution import Resolution
from ematix_flow.spec.modes import Path
from ematix_flow.spec.pipeline import Pipeline
from ematix_flow.spec.window import Ends

if TYPE_CHECKING:
    from ematix_flow.engine.runs.validation import Validation


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """Plans, explains and validates; starts Spark only where it is asked to analyse frames."""

    config: ProjectConfig
    project: Project
    environ: Mapping[str, str] = field(repr=False)
    clock: Clock
    backends: Backends
    resolution: Resolution
    places: Places
    engines: Engines

    def plan(
        self, name: str, window: Ends | None = None, *, again: bool = False, dry: bool = False
    ) -> Plan:
        """Plan a run over a given part of the incremental column, or over what is new.

        :param again: Whether that part was loaded before.
        :param dry: Whether all of it will be undone.
        """
        pipeline = self.project.pipeline(name)
        with self.planner(dry=dry) as planner, located(pipeline.location):
            return planner.plan(pipeline, window, again=again)

    def of_preview(self, name: str) -> Plan:
        """Plan a run of which nothing is written, not even for a moment."""
        pipeline = self.project.pipeline(name)
        with self.planner() as planner, located(pipeline.location):
            plan = planner.plan(pipeline)
            if plan.path is not Path.DIRECT:
                return plan
            on_spark = planner.plan(replace(pipeline, force_path=Path.SPARK))
            if on_spark.blockers and not plan.blockers:
                raise NotSupported(
                    f"a preview is computed by Spark: {'; '.join(on_spark.blockers)}",
                    hint=f"flow dry-run {name} counts its rows without",
                )
            return on_spark

    def explained(
        self, names: Sequence[str], *, with_lineage: bool, analyze: bool
    ) -> list[Explanation | Unplannable]:
        """Return the plans of *names*; one that cannot be planned does not hide the others."""
        wanted = [self.project.pipelines[name] for name in names]
        machine = this_machine()
        with self.planner(with_lineage=with_lineage) as planner:
            return [
                self._explained(pipeline, planner, machine, analyze=analyze) for pipeline in wanted
            ]

    def validated(self, name: str) -> Validation:
        """Plan a pipeline and have its source, or Spark, analyse its query. Reads no row."""
        from ematix_flow.engine.runs.validation import Validation, validate_plan

        pipeline = self.project.pipeline(name)
        try:
            with self.planner() as planner, located(pipeline.location):
                plan = planner.plan(pipeline)
                return validate_plan(plan, pipeline, planner.state, self.engines.opener(plan))
        except FlowError as error:
            return Validation(pipeline=name, error=error)

    @contextmanager
    def planner(self, *, dry: bool = False, with_lineage: bool = False) -> Iterator[Planner]:
        """Open the planner; what it looks at is looked at once."""
        self.resolution.order()  # every name in depends_on is known and there is no circle
        with MetadataReader(self.places.reader, self.places.target) as state:
            yield Planner(
                project=self.project,
                backends=self.backends,
                state=state,
                resolved=self.resolution.input_of,
                after=self.resolution.after,
                lacks=Installation(self.backends, self.engines).lacks,
                now=self.clock.now(),
                direct_bytes=direct_limit(self.config, self.environ),
                dry=dry,
                with_lineage=with_lineage,
            )

    def _explained(
        self, pipeline: Pipeline, planner: Planner, machine: Machine, *, analyze: bool
    ) -> Explanation | Unplannable:
        try:
            with located(pipeline.location):
                plan = planner.plan(pipeline)
            if analyze and not plan.analysed:
                plan = self._analysed(plan, pipeline, planner.state)
            engine = self.engines.choice(plan.pipeline)
            return Explanation(plan=plan, engine=engine, sizing=self.engines.sizing(plan, machine))
        except FlowError as error:
            return Unplannable(pipeline=pipeline.name, error=error)

    def _analysed(self, plan: Plan, pipeline: Pipeline, state: StateReader) -> Plan:
        from ematix_flow.engine.runs.validation import analyse_plan, analysed

        with located(pipeline.location):
            try:
                found = analyse_plan(plan, pipeline, state, self.engines.opener(plan))
            except RunsJob as error:
                return replace(plan, remarks=(*plan.remarks, f"not analysed: {error.what}"))
            return analysed(plan, found)
