"""Staging in a table of the target, filled by the engine's tasks themselves."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.errors import EngineError, FlowError
from ematix_flow.plan.steps import Commit
from ematix_flow.ports import BrokenRow, StagedTable, StagesInTable, StagingTable, Target
from ematix_flow.spec.contract import Contract
from ematix_flow.spec.named_row import naming_columns
from ematix_flow.spec.table import Table, TableName
from ematix_flow.sqltext.program.work import dry_prefix
from ematix_flow.write.staging_task import SAMPLES, SUMMARY, StagingTask, aside_file

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame, Row

# Identifiers have at most 63 bytes in PostgreSQL and 64 characters in MySQL.
_PREFIX = "_flow_staging_"
_HASH_LENGTH = 8


@contextmanager
def staging_table(
    target: Target, rows: Table, *, pipeline: str, name: TableName, run_id: str, dry: bool = False
) -> Iterator[StagingTable | None]:
    """Create the staging table of a run and drop it in the end; None where the target wants files.

    :param rows: The staged columns.
    :param name: The table that the rows are for.
    :param dry: Whether it is for a dry run, which may have no lease: its table is swept apart.
    """
    if not isinstance(target, StagesInTable):
        yield None
        return
    prefix = dry_prefix(pipeline, name) if dry else _prefix(pipeline, name)
    # A run that is tried again must not meet what tasks of its first attempt still send.
    attempt = secrets.token_hex(3)
    table = target.staging_table(f"{prefix}{run_id.replace('-', '')}{attempt}", rows)
    table.create()
    try:
        yield table
    finally:
        # What cannot be dropped now is swept by the next run.
        with suppress(FlowError):
            table.drop()


def sweep_staging_tables(target: Target, pipeline: str, step: Commit, *, dry: bool = False) -> None:
    """Drop what earlier runs of the pipeline left; only the holder of its lease may call this.

    :param dry: Drop what dry runs left, and nothing else.
    """
    if isinstance(target, StagesInTable):
        of_runs = () if dry else (_prefix(pipeline, step.target),)
        left = (*of_runs, dry_prefix(pipeline, step.target))
        target.sweep_staging(left, step.program.staging)


def _prefix(pipeline: str, name: TableName) -> str:
    """Return how the names of the staging tables begin that bring rows into *name*."""
    own = hashlib.sha256(f"{pipeline}\0{name}".encode()).hexdigest()[:_HASH_LENGTH]
    return f"{_PREFIX}{own}_"


def stage_in_table(
    frame: DataFrame, table: StagingTable, contract: Contract, folder: Path
) -> StagedTable:
    """Run the job: its tasks fill *table*. Return which of them count.

    :param folder: Where rows go that are to be set aside.
    """
    task = StagingTask(
        load=table.loader(),
        set_aside=frozenset(rule.number for rule in contract.rules if rule.sets_aside),
        keys=naming_columns(contract.table),
        folder=str(folder),
    )

    # A function of its own: Spark shows its name, and nothing that it holds.
    def stage_rows(batches: Iterable[RecordBatch]) -> Iterable[RecordBatch]:
        return task(iter(batches))

    told = frame.mapInArrow(stage_rows, SUMMARY).collect()
    return _staged(table.name, told, folder)


def _staged(name: str, told: list[Row], folder: Path) -> StagedTable:
    samples = [
        BrokenRow(row=row, rule=rule, value=value)
        for each in told
        for row, rule, value in json.loads(each.samples)
    ]
    aside = tuple(folder / aside_file(each.task) for each in told if each.aside)
    unseen = [file for file in aside if not file.exists()]
    if unseen:
        raise EngineError(
            f"the engine set rows aside into {str(unseen[0])!r}, which is not there; "
            "nothing was written",
            hint="set staging_path to a folder that this process and the whole engine share",
        )
    return StagedTable(
        name=name,
        tasks=tuple(each.task for each in told if each.rows),
        rows=sum(each.rows for each in told),
        broken=sum(each.broken for each in told),
        samples=tuple(samples[:SAMPLES]),
        aside=aside,
    )
