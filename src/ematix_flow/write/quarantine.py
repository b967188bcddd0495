"""Rows set aside: out of staging, kept with what is wrong with them.

They are written before the commit and named by the run, so a repeated run writes the same
file again, and the file of a run that failed says what it would have set aside.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.ports import CountedRows, StagedFiles, StagedTable
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract
from ematix_flow.write.plain_schema import plain_schema
from ematix_flow.write.staging import has_verdict

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema, Table

# What a quarantined row has beside the columns of its table.
COLUMN = "_flow_column"
PROBLEM = "_flow_problem"
MARKER = "_flow_marker"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """What staging holds now, and what was taken out of it."""

    staged: CountedRows
    rows: int = 0
    file: Path | None = None


def set_aside(staged: CountedRows, contract: Contract, file: Path) -> SetAside:
    """Move the rows that break a rule with quarantine from *staged* to *file*.

    Call it after `require_clean`: every row that is still bad then is to be set aside. Files
    without a bad row are not read.

    :param file: Where the rows go, as Parquet; written whole or not at all.
    """
    match staged:
        case StagedTable(aside=suspects):
            pass  # the tasks that filled it have kept such rows apart
        case StagedFiles():
            suspects = tuple(file for file in staged.files if has_verdict(file))
    if not contract.may_set_aside or not suspects:
        return SetAside(staged=staged)
    import pyarrow.parquet as pq

    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{file.name}.unfinished")
    schema = _schema(plain_schema(pq.read_schema(suspects[0])))
    moved = 0
    kept: dict[Path, Path] = {}
    with pq.ParquetWriter(unfinished, schema) as aside:
        for number, suspect in enumerate(suspects):
            kept[suspect] = suspect.with_name(f"kept-{number}.parquet")
            for bad in _split(suspect, kept[suspect]):
                aside.write_table(_described(bad, contract, schema))
                moved += bad.num_rows
    if moved == 0:
        unfinished.unlink()
        return SetAside(staged=staged)
    make_durable(unfinished, file)
    left = replace(staged, rows=staged.rows - moved)
    if isinstance(left, StagedFiles):
        left = replace(left, files=tuple(kept.get(each, each) for each in left.files))
    return SetAside(staged=left, rows=moved, file=file)


def _split(source: Path, good: Path) -> Iterator[Table]:
    """Copy the good rows of *source* to *good* and hand out the bad ones."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    schema = plain_schema(pq.read_schema(source))
    with pq.ParquetFile(source) as rows, pq.ParquetWriter(good, schema) as writer:
        batch: RecordBatch
        for batch in rows.iter_batches():
            table = pa.Table.from_batches([batch]).cast(schema)
            is_bad = pc.is_valid(table[RULE_COLUMN])
            writer.write_table(table.filter(pc.invert(is_bad)))
            bad = table.filter(is_bad)
            if bad.num_rows:
                yield bad


def _schema(staged: Schema) -> Schema:
    import pyarrow as pa

    fields = [each for each in staged if each.name not in (RULE_COLUMN, VALUE_COLUMN)]
    added = (COLUMN, MARKER, VALUE_COLUMN, PROBLEM)
    return pa.schema([*fields, *(pa.field(name, pa.string()) for name in added)])


def _described(bad: Table, contract: Contract, schema: Schema) -> Table:
    import pyarrow as pa

    rules = [contract.rule(number) for number in bad[RULE_COLUMN].to_pylist()]
    values = bad[VALUE_COLUMN].to_pylist()
    described = {
        COLUMN: [rule.column for rule in rules],
        MARKER: [str(rule.marker) for rule in rules],
        VALUE_COLUMN: values,
        PROBLEM: [rule.describe(value) for rule, value in zip(rules, values, strict=True)],
    }
    columns = [
        pa.array(described[name], pa.string()) if name in described else bad[name]
        for name in schema.names
    ]
    return pa.table(columns, schema=schema)


def make_durable(unfinished: Path, file: Path) -> None:
    """Give a file its name once its rows are on disk: what is set aside is nowhere else."""
    with unfinished.open("rb") as written:
        os.fsync(written.fileno())
    unfinished.replace(file)
