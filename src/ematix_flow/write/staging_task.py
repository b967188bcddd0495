"""What a task of the engine does with its rows: the good ones go into the target's staging table.

Rows that stop the load are counted, and some are shown; those that are to be set aside go into a
file. The one row that a task returns says so. Only the rows of attempts whose answer arrived
count, so it does not matter how often the engine tried.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow._base.hidden_failure import HiddenFailure
from ematix_flow.ports import RowLoader
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN
from ematix_flow.spec.named_row import named_row
from ematix_flow.spec.task_failure import told_to_the_driver

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyarrow.parquet import ParquetWriter

SUMMARY = "task string, rows bigint, broken bigint, aside bigint, samples string"
SAMPLES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StagingTask:
    """The work of every task; it travels to them pickled.

    :param set_aside: The numbers of the rules whose rows leave the load without stopping it.
    :param keys: The columns that name a row.
    :param folder: Where rows to be set aside go; the driver must see it too.
    """

    load: RowLoader
    set_aside: frozenset[int]
    keys: tuple[str, ...]
    folder: str

    def __call__(self, batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        """Stage the rows and return the summary."""
        with told_to_the_driver():
            yield _Attempt(task=self, name=_name()).carry_out(batches)


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """One attempt at one task, and what it has seen so far."""

    task: StagingTask
    name: str
    rows: int = 0
    broken: int = 0
    aside: int = 0
    samples: list[tuple[str, int, str | None]] = field(default_factory=list)
    files: ExitStack = field(default_factory=ExitStack)
    writer: ParquetWriter | None = None

    def carry_out(self, batches: Iterator[RecordBatch]) -> RecordBatch:
        import pyarrow as pa

        with self.files:
            # A database's driver tells only the text of what went wrong with rows it was given.
            hidden = HiddenFailure()
            good = hidden.given(self._good(batches))
            # Without a row there is nothing to connect for.
            first = next(good, None)
            if first is not None:
                with hidden.revealed():
                    self.task.load(chain((first,), good), self.name)
        samples = json.dumps(self.samples)
        values = (self.name, self.rows, self.broken, self.aside, samples)
        names = ("task", "rows", "broken", "aside", "samples")
        return pa.record_batch([pa.array([each]) for each in values], names=list(names))

    def _good(self, batches: Iterator[RecordBatch]) -> Iterator[RecordBatch]:
        for batch in batches:
            self.rows += batch.num_rows
            good = self._sorted_out(batch)
            # Once one row stops the load, no other needs to travel; they are still judged.
            if good.num_rows and not self.broken:
                yield good.drop_columns([RULE_COLUMN, VALUE_COLUMN])

    def _sorted_out(self, batch: RecordBatch) -> RecordBatch:
        """Return the good rows; keep what is to be known of the others."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rules = batch[RULE_COLUMN]
        if rules.null_count == batch.num_rows:
            return batch
        leaves = pc.is_in(rules, pa.array(sorted(self.task.set_aside), rules.type))
        self._set_aside(batch.filter(leaves))
        is_bad = pc.is_valid(rules)
        self._refuse(batch.filter(pc.and_not(is_bad, leaves)))
        return batch.filter(pc.invert(is_bad))

    def _refuse(self, bad: RecordBatch) -> None:
        self.broken += bad.num_rows
        wanted = SAMPLES - len(self.samples)
        for row in bad.slice(0, wanted).to_pylist() if wanted else ():
            named = named_row((key, row[key]) for key in self.task.keys)
            self.samples.append((named, row[RULE_COLUMN], row[VALUE_COLUMN]))

    def _set_aside(self, bad: RecordBatch) -> None:
        import pyarrow.parquet as pq

        if not bad.num_rows:
            return
        if self.writer is None:
            folder = Path(self.task.folder)
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / aside_file(self.name)
            self.writer = self.files.enter_context(pq.ParquetWriter(file, bad.schema))
        self.writer.write_batch(bad)
        self.aside += bad.num_rows


def aside_file(task: str) -> str:
    """Return the name of the file for rows that an attempt sets aside."""
    return f"{task}.parquet"


def _name() -> str:
    """Return what no other attempt at any task is called.

    Spark's number of an attempt begins anew when a whole stage is repeated; its id does not.
    """
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:
        return str(uuid.uuid4())  # Sail has no such thing
    return f"{context.partitionId()}.{context.taskAttemptId()}"
