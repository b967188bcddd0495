"""The steps that bring a pipeline's rows into one of its targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ematix_flow.plan.plan import TargetPlan
from ematix_flow.plan.steps import (
    Arrange,
    LoadSteps,
    Normalize,
    Restrict,
    Stage,
    TargetStep,
    Validate,
)
from ematix_flow.plan.writing import Writing
from ematix_flow.resolve.keys import merge_keys
from ematix_flow.spec.carried import carried, given_table
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.pipeline import Pipeline, TargetSpec
from ematix_flow.spec.table import Table
from ematix_flow.spec.window import Window
from ematix_flow.sqltext.type_names import json_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetLoad:
    """One target of a pipeline, and what will happen to it."""

    target: TargetSpec
    writing: Writing
    dialect: str

    @property
    def watermark(self) -> str | None:
        """How far its last commit came."""
        ledger = self.writing.facts.ledger
        return ledger.watermark if ledger else None

    @property
    def judged(self) -> Table:
        """The columns that rows arrive with, as they are declared."""
        table = given_table(self.writing.commit.layout)
        drifted = {each.column.name: each for each in self.writing.drifted}
        kept = tuple(
            drifted[column.name].column if column.name in drifted else column
            for column in table.columns
        )
        lacking = tuple(each.column for each in drifted.values() if each.held is None)
        return replace(table, columns=(*kept, *lacking))

    def plan(self) -> TargetPlan:
        """Return what there is to know of it before the run."""
        keys = merge_keys(self.target)
        warnings = (keys.warning,) if keys and keys.warning else ()
        ledger = self.writing.facts.ledger
        return TargetPlan(
            connection=self.target.connection,
            target=str(self.writing.commit.target),
            mode=self.target.write.mode,
            exists=self.writing.facts.columns is not None,
            last_commit=ledger.committed_at if ledger else None,
            keys=keys,
            diff=self.writing.diff,
            destructive=self.writing.destructive,
            remarks=(*warnings, *self.writing.notes),
        )

    def steps(
        self, pipeline: Pipeline, window: Window | None, *, untyped: bool = False
    ) -> LoadSteps:
        """Return the steps from the pipeline's rows to the commit.

        :param window: What this target still lacks, where that is less than what is read.
        :param untyped: Whether the source has no types, so that numbers come as text.
        """
        layout = self.writing.commit.layout
        cursor = pipeline.read.incremental_column
        contract = Contract.of(self.judged, self.dialect, layout, cursor, self.writing.drifted)
        as_json = json_columns(given_table(layout), self.dialect)
        return LoadSteps(
            prepare=self.writing.prepare,
            contract=contract,
            shape=(
                *self._shape(pipeline, window, untyped=untyped),
                Validate(contract=contract, as_json=as_json),
            ),
            source=Stage(),
            commit=self.writing.commit,
        )

    def _shape(
        self, pipeline: Pipeline, window: Window | None, *, untyped: bool
    ) -> Iterator[TargetStep]:
        layout, write = self.writing.commit.layout, self.target.write
        if window is not None:
            yield Restrict(window=window, location=pipeline.location)
        if write.column_map or carried(layout):
            yield Arrange(
                layout=layout,
                location=pipeline.location,
                column_map=write.column_map,
                deletes=write.apply_as_deletes,
                cursor=pipeline.read.incremental_column,
                untyped=untyped,
            )
        if any(column.markers for column in self.judged.columns):
            yield Normalize(table=self.judged)
