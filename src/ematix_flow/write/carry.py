"""Carrying rows from the source into the session that will commit them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow._base.hidden_failure import HiddenFailure
from ematix_flow.plan.steps import Carry
from ematix_flow.ports import (
    PassesRows,
    Reader,
    ReadsWithoutSpark,
    StagedBatches,
    StagesInTable,
    StagingTable,
    Target,
    TargetSession,
)
from ematix_flow.spec.altered import require_unaltered
from ematix_flow.spec.arrow_type import arrow_type, declared_type
from ematix_flow.spec.types import DataType

if TYPE_CHECKING:
    from pyarrow import Field, RecordBatch, RecordBatchReader, Schema

Progress = Callable[[int], None]


def passes(target: Target, step: Carry, reader: Reader) -> bool:
    """Tell whether the source's server can fill a table of the target's itself."""
    if not isinstance(target, StagesInTable):
        return False
    table = target.staging_table(step.relation, step.table)
    return isinstance(table, PassesRows) and table.passes_from(reader)


def pass_rows(
    step: Carry,
    reader: Reader,
    table: StagingTable | None,
    session: TargetSession,
    tell: Progress,
) -> int:
    """Let one server fill a table of the other, show it to the session, and count its rows."""
    assert isinstance(table, PassesRows)  # as `passes` said
    staged = table.pass_rows(reader, step.read.query, tell)
    session.show_staging(staged, step.table, step.relation)
    return staged.rows


def carry(
    step: Carry,
    reader: Reader,
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

    assert isinstance(reader, ReadsWithoutSpark)  # or there were no such step
    failure: Exception | None = None
    try:
        with reader.batches(step.read.query, scratch) as rows:
            _require_as_planned(rows.schema, step)
            session = opening()
            arriving, hidden = _Arriving(rows, tell), HiddenFailure()
            batches = hidden.given(arriving.batches())
            stream = pa.RecordBatchReader.from_batches(rows.schema, batches)
            try:
                with hidden.revealed():
                    session.show_staging(StagedBatches(batches=stream), step.table, step.relation)
            except Exception as error:
                if error is hidden.error:
                    raise
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
    """Rows on their way, counted."""

    rows: RecordBatchReader
    tell: Progress
    counted: int = 0
    bytes: int = 0

    def batches(self) -> Iterator[RecordBatch]:
        for batch in self.rows:
            yield batch
            self.counted += batch.num_rows
            self.bytes += batch.nbytes
            self.tell(self.bytes)


def _require_as_planned(found: Schema, step: Carry) -> None:
    """Refuse rows of other types than were planned for: a table was altered in between."""
    planned = {column.name: column.type for column in step.table.columns}
    require_unaltered([(field.name, _meant(field, planned)) for field in found], step.table)


def _meant(field: Field, planned: dict[str, DataType]) -> object:
    """Return what a column is: text may stand for more."""
    kind = planned.get(field.name)
    same = kind is not None and arrow_type(kind) == field.type
    return kind if same else declared_type(field.type) or field.type
