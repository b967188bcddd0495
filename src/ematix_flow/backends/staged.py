"""Staged rows on their way into a target that loads them itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow._base.hidden_failure import HiddenFailure
from ematix_flow.backends.batch import BATCH_ROWS, in_parts
from ematix_flow.ports import StagedBatches, StagedFiles

if TYPE_CHECKING:
    from pyarrow import RecordBatch, RecordBatchReader, Schema


def staged_batches(
    staged: StagedFiles | StagedBatches, names: Sequence[str]
) -> Iterator[RecordBatch]:
    """Give the columns *names* of the rows, a batch at a time: from files, or as they arrive."""
    wanted = list(names)
    match staged:
        case StagedFiles():
            arriving = _in_files(staged.files, wanted)
        case StagedBatches():
            arriving = iter(staged.batches)
    for batch in arriving:
        yield from in_parts(batch.select(wanted))


def _in_files(files: Sequence[Path], names: list[str]) -> Iterator[RecordBatch]:
    import pyarrow.parquet as pq

    for file in files:
        # 96-bit timestamps reach further than nanoseconds can count.
        opened = pq.ParquetFile(file, coerce_int96_timestamp_unit="us")
        yield from opened.iter_batches(batch_size=BATCH_ROWS, columns=names)


@contextmanager
def streamed(batches: Iterator[RecordBatch], schema: Schema) -> Iterator[RecordBatchReader]:
    """Give *batches* to a driver that tells only the text of what goes wrong while it takes them.

    What is raised in the end is the error itself.
    """
    import pyarrow as pa

    hidden = HiddenFailure()
    with hidden.revealed():
        yield pa.RecordBatchReader.from_batches(schema, hidden.given(batches))
