"""How many rows travel together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyarrow import RecordBatch

# Enough to fill a Parquet row group well, few enough to keep this process small.
BATCH_ROWS = 50_000
# Of long texts fewer: Arrow's have 2 GB at most in one array, and some grow on the way.
BATCH_BYTES = 256 * 1024 * 1024


def batches_of(columns: Sequence[Any], names: Sequence[str]) -> list[RecordBatch]:
    """Return columns as batches: one, unless Arrow had to divide a column."""
    import pyarrow as pa

    found: list[RecordBatch] = pa.table(list(columns), names=list(names)).to_batches()
    return found


def in_parts(batch: RecordBatch, most_bytes: int = BATCH_BYTES) -> Iterator[RecordBatch]:
    """Divide a batch of long texts."""
    rows = max(1, batch.num_rows * most_bytes // max(1, batch.nbytes))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
