"""Carrying rows from the source into the session that will commit them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.plan.steps import Carry
from ematix_flow.ports import ReadsWithoutSpark, StagedRows, TargetSession
from ematix_flow.spec.altered import require_unaltered
from ematix_flow.spec.arrow_type import arrow_type, declared_type
from ematix_flow.spec.types import DataType

if TYPE_CHECKING:
    from pyarrow import Field, RecordBatch, RecordBatchReader, Schema

Progress = Callable[[int], None]


def carry(
    step: Carry,
    reader: ReadsWithoutSpark,
    opening: Callable[[], TargetSession],
    scratch: Path,
    tell: Progress,
) -> int:
    """Carry all rows of the query, as Arrow, and return how many there were.

    :param opening: Opens the target. Called when the source is open: a file of DuckDB that is
        both may be read only while nobody writes to it, and has been read by then.
    :param tell: Told how many bytes have arrived.
    """
    import pyarrow as pa

    failure: Exception | None = None
    try:
        with reader.batches(step.read.query, scratch) as rows:
            _require_as_planned(rows.schema, step)
            session = opening()
            arriving = _Arriving(rows, tell)
            stream = pa.RecordBatchReader.from_batches(rows.schema, arriving.batches())
            try:
                session.show_staging(StagedRows(rows=0, batches=stream), step.table, step.relation)
            except Exception as error:  # noqa: BLE001  # raised below
                if arriving.failure is not None:
                    raise arriving.failure from None
                failure = error
                raise _GivenUp from None
    except _GivenUp:
        assert failure is not None
        raise failure from None
    return arriving.counted


class _GivenUp(Exception):
    """Ends the reading; the source must not take the target's failure for its own."""


@dataclass(slots=True)
class _Arriving:
    """Rows on their way, counted.

    :ivar failure: What went wrong with the source; whoever takes the rows may hide it.
    """

    rows: RecordBatchReader
    tell: Progress
    counted: int = 0
    bytes: int = 0
    failure: BaseException | None = None

    def batches(self) -> Iterator[RecordBatch]:
        try:
            for batch in self.rows:
                yield batch
                self.counted += batch.num_rows
                self.bytes += batch.nbytes
                self.tell(self.bytes)
        except GeneratorExit:
            raise
        except BaseException as error:
            # An interrupt, too: whoever takes the rows knows it only as a failure of theirs.
            self.failure = error
            raise


def _require_as_planned(found: Schema, step: Carry) -> None:
    """Refuse rows of other types than were planned for: a table was altered in between."""
    planned = {column.name: column.type for column in step.table.columns}
    require_unaltered([(field.name, _meant(field, planned)) for field in found], step.table)


def _meant(field: Field, planned: dict[str, DataType]) -> object:
    """Return what a column is: text may stand for more."""
    kind = planned.get(field.name)
    same = kind is not None and arrow_type(kind) == field.type
    return kind if same else declared_type(field.type) or field.type
