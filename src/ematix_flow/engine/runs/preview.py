"""The first rows of a pipeline, read, transformed, cleaned and judged; nothing is written."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ematix_flow.engine.batch.ports import BatchPorts
from ematix_flow.engine.batch.walk import BatchWalk
from ematix_flow.engine.runs.context import RunContext
from ematix_flow.plan.consent import require_supported
from ematix_flow.plan.plan import Plan
from ematix_flow.plan.steps import ReadQuery, RowStep, SelectInTarget
from ematix_flow.ports import Target
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract
from ematix_flow.sqltext.first_rows import first_rows

if TYPE_CHECKING:
    from pyarrow import Table

_OURS = "_flow_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Rows as they would reach the target.

    :param problems: What is wrong with each row; None where nothing is.
    """

    pipeline: str
    target: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    problems: tuple[str | None, ...]

    def to_json(self) -> dict[str, object]:
        """Return the rows as `flow preview --format json` shows them."""
        return {
            "pipeline": self.pipeline,
            "target": self.target,
            "columns": list(self.columns),
            "rows": [
                {name: _plain(value) for name, value in zip(self.columns, row, strict=True)}
                for row in self.rows
            ],
            "problems": [
                {"row": number, "problem": problem}
                for number, problem in enumerate(self.problems)
                if problem is not None
            ],
        }


def preview(pipeline: str, context: RunContext, rows: int) -> Preview:
    """Return the first *rows* of what a run would stage for the (first) target."""
    plan = context.plan()
    require_supported(plan)
    source = plan.loads[0].source
    if isinstance(source, SelectInTarget):
        return _selected(pipeline, plan, source, context.target(source.connection), rows)
    root = context.staging_root()
    root.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".preview-", dir=root))
    walk = BatchWalk(
        plan=replace(plan, rows=tuple(_limited(step, rows) for step in plan.rows)),
        run_id="preview",
        scratch=scratch,
        quarantine=lambda number: scratch / f"aside-{number}.parquet",
        landed=(None,),
        ports=BatchPorts(
            reader=context.reader,
            target=context.target,
            open_engine=context.open_engine(plan),
            observer=context.observer,
            clock=context.clock,
        ),
    )
    try:
        judged = walk.judged(rows)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return _preview(pipeline, plan, judged)


def _selected(
    pipeline: str, plan: Plan, step: SelectInTarget, target: Target, rows: int
) -> Preview:
    """Ask the database that would select the rows itself."""
    with target.open_read_only() as session:
        found = session.fetch(first_rows(step.selection.sql, rows))
    columns = step.selection.table.column_names
    judged = [dict(zip(columns, row, strict=True)) for row in found]
    names = tuple(name for name in columns if not name.startswith(_OURS))
    rules = [row.get(RULE_COLUMN) for row in judged]
    values = [row.get(VALUE_COLUMN) for row in judged]
    return Preview(
        pipeline=pipeline,
        target=plan.first.target,
        columns=names,
        rows=tuple(tuple(row[name] for name in names) for row in judged),
        problems=_problems(
            step.contract,
            [None if each is None else int(str(each)) for each in rules],
            [None if each is None else str(each) for each in values],
        ),
    )


def _limited(step: RowStep, rows: int) -> RowStep:
    """Let the source itself return no more rows than are shown, where they are the pipeline's."""
    if not isinstance(step, ReadQuery) or step.known_as is not None:
        return step
    return replace(step, query=first_rows(step.query, rows))


def _preview(pipeline: str, plan: Plan, judged: Table) -> Preview:
    names = [name for name in judged.column_names if not name.startswith(_OURS)]
    rules, values = (judged[name].to_pylist() for name in (RULE_COLUMN, VALUE_COLUMN))
    return Preview(
        pipeline=pipeline,
        target=plan.first.target,
        columns=tuple(names),
        rows=tuple(zip(*(judged[name].to_pylist() for name in names), strict=True)),
        problems=_problems(plan.loads[0].contract, rules, values),
    )


def _problems(
    contract: Contract, rules: Sequence[int | None], values: Sequence[str | None]
) -> tuple[str | None, ...]:
    return tuple(
        None if rule is None else contract.rule(rule).describe(value)
        for rule, value in zip(rules, values, strict=True)
    )


def _plain(value: object) -> object:
    """Return a value as JSON can hold it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return str(value)
