"""Staging: rows that are durable, judged, and not yet anyone's business.

A target that can takes them in a table of its own (see `staging_table`). For the others they
lie in Parquet files: there Spark's own commit protocol decides which task attempts count, so a
retried or speculative task adds nothing. What was written is read back from the footers alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ematix_flow.errors import ContractError, EngineError
from ematix_flow.ports import BrokenRow, CountedRows, StagedFiles, StagedTable, StagingTable
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract
from ematix_flow.spec.named_row import named_row, naming_columns
from ematix_flow.write.plain_schema import plain_schema
from ematix_flow.write.staging_table import stage_in_table
from ematix_flow.write.staging_task import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class StagingArea:
    """The staging of one pipeline; each run has its own folder in it."""

    root: Path

    def of_run(self, run_id: str) -> Path:
        """Return the folder of one run."""
        return self.root / run_id

    def sweep(self) -> int:
        """Remove what earlier runs left. Only the holder of the pipeline's lease may call this."""
        left = list(self.root.iterdir()) if self.root.is_dir() else []
        for folder in left:
            shutil.rmtree(folder) if folder.is_dir() else folder.unlink()
        return len(left)


def stage(
    frame: DataFrame,
    folder: Path,
    contract: Contract,
    *,
    counted: bool,
    table: StagingTable | None = None,
) -> CountedRows:
    """Run the job and return what is durable now.

    :param counted: Let the job count its rows, and compare: an engine that writes to another disk
        than ours would otherwise look like a load of no rows.
    :param table: Where the target wants its rows; None for files in *folder*.
    """
    if table is not None:
        return stage_in_table(frame, table, contract, folder / "aside")
    return _stage_in_files(frame, folder, counted=counted)


def _stage_in_files(frame: DataFrame, folder: Path, *, counted: bool) -> StagedFiles:
    import pyarrow.parquet as pq

    rows = folder / "rows"
    expected = None
    if counted:
        from pyspark.sql import Observation, functions

        observation = Observation()
        frame.observe(observation, functions.count(functions.lit(1)).alias("rows")).write.mode(
            "error"
        ).parquet(str(rows))
        expected = int(observation.get["rows"])
    else:
        frame.write.mode("error").parquet(str(rows))
    files = tuple(sorted(rows.glob("*.parquet")))
    if not files:
        # Some engines write no file for no rows; the commit still wants the columns.
        rows.mkdir(exist_ok=True)
        files = (rows / "empty.parquet",)
        pq.write_table(frame.limit(0).toArrow(), files[0])
    found = sum(pq.read_metadata(file).num_rows for file in files)
    if expected is not None and found != expected:
        raise EngineError(
            f"the engine staged {expected:,} rows, but {found:,} are in {str(rows)!r}; "
            "nothing was written",
            hint="set staging_path to a folder that this process and the whole engine share",
        )
    return StagedFiles(files=files, rows=found)


def require_clean(staged: CountedRows, contract: Contract) -> None:
    """Refuse the load when any staged row broke a rule, naming rows by their keys.

    Rows that are to be set aside stop nothing.
    """
    match staged:
        case StagedTable(broken=count, samples=samples):
            pass  # told by the tasks that filled it
        case StagedFiles():
            count, samples = _found_in_files(staged, contract)
    if count:
        refuse_broken(count, samples, staged.rows, contract)


def refuse_broken(
    count: int, samples: Sequence[BrokenRow], rows: int, contract: Contract
) -> NoReturn:
    """Refuse a load of *rows* of which *count* break a rule."""
    lines = [
        f"  row {each.row}: {contract.rule(each.rule).describe(each.value)}" for each in samples
    ]
    if count > len(samples):
        lines.append(f"  ... and {count - len(samples):,} more")
    raise ContractError(
        f"{count:,} of {rows:,} rows break the declaration of {contract.table.name}; "
        "nothing was written",
        where=contract.table.location,
        details="\n".join(lines),
        hint=contract.rule(samples[0].rule).remedy,
    )


def _found_in_files(staged: StagedFiles, contract: Contract) -> tuple[int, tuple[BrokenRow, ...]]:
    suspects = [file for file in staged.files if has_verdict(file)]
    if not suspects:
        return 0, ()
    import pyarrow.compute as pc
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    schema = plain_schema(pq.read_schema(suspects[0]))
    dataset = ds.dataset(suspects, format="parquet", schema=schema)
    bad = dataset.filter(pc.field(RULE_COLUMN).is_valid() & ~_set_aside(contract))
    keys = naming_columns(contract.table)
    samples = tuple(
        BrokenRow(
            row=named_row((key, row[key]) for key in keys),
            rule=row[RULE_COLUMN],
            value=row[VALUE_COLUMN],
        )
        for row in bad.head(SAMPLES).to_pylist()
    )
    return (bad.count_rows() if samples else 0), samples


def _set_aside(contract: Contract) -> Any:
    """Return which rows leave the load, as a condition over staged rows."""
    import pyarrow.compute as pc

    numbers = [rule.number for rule in contract.rules if rule.sets_aside]
    return pc.field(RULE_COLUMN).isin(numbers)


def has_verdict(file: Path) -> bool:
    """Tell from the footer whether any row of *file* may be bad, without reading a row."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(file)
    index = metadata.schema.names.index(RULE_COLUMN)
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        statistics = group.column(index).statistics
        if statistics is None or statistics.null_count is None:
            return True
        if statistics.null_count < group.num_rows:
            return True
    return False
