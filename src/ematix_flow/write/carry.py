"""Carrying rows from the source into the session that will commit them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.plan.steps import Carry
from ematix_flow.ports import ReadsWithoutSpark, StagedRows, TargetSession
from ematix_flow.spec.altered import altered
from ematix_flow.spec.arrow_type import arrow_type

if TYPE_CHECKING:
    from pyarrow import RecordBatch, RecordBatchReader, Schema

Progress = Callable[[int], None]


def carry(
    step: Carry, reader: ReadsWithoutSpark, session: TargetSession, scratch: Path, tell: Progress
) -> int:
    """Carry all rows of the query, as Arrow, and return how many there were.

    :param tell: Told how many bytes have arrived.
    """
    import pyarrow as pa

    failure: Exception | None = None
    with reader.batches(step.read.query, scratch) as rows:
        _require_as_planned(rows.schema, step)
        passing = _Passing(rows, tell)
        stream = pa.RecordBatchReader.from_batches(rows.schema, passing.batches())
        try:
            session.show_staging(StagedRows(rows=0, batches=stream), step.table, step.relation)
        except Exception as error:  # noqa: BLE001  # raised below
            if passing.failure is not None:
                raise passing.failure from None
            # Not raised here: the source would take the target's failure for its own.
            failure = error
    if failure is not None:
        raise failure
    return passing.counted


@dataclass(slots=True)
class _Passing:
    """Rows on their way, counted.

    :ivar failure: What went wrong with the source; whoever takes the rows may hide it.
    """

    rows: RecordBatchReader
    tell: Progress
    counted: int = 0
    bytes: int = 0
    failure: Exception | None = None

    def batches(self) -> Iterator[RecordBatch]:
        try:
            for batch in self.rows:
                yield batch
                self.counted += batch.num_rows
                self.bytes += batch.nbytes
                self.tell(self.bytes)
        except Exception as error:
            self.failure = error
            raise


def _require_as_planned(found: Schema, step: Carry) -> None:
    """Refuse rows of other types than were planned for: a table was altered in between."""
    import pyarrow as pa

    smaller = {pa.int16(): (pa.int8(),)}
    for column in step.table.columns:
        kind = arrow_type(column.type)
        place = found.get_field_index(column.name)
        if place < 0 or found.field(place).type not in (kind, *smaller.get(kind, ())):
            raise altered(column, None if place < 0 else found.field(place).type)
