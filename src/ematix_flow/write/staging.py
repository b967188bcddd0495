"""Staging: rows that are durable, judged, and not yet anyone's business.

Spark's own commit protocol decides which task attempts count, so a retried or
speculative task adds nothing. What was written is read back from the footers alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ematix_flow.errors import ContractError, EngineError
from ematix_flow.ports import StagedRows
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN, Contract
from ematix_flow.write.plain_schema import plain_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SAMPLES = 5


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
            shutil.rmtree(folder)
        return len(left)


def stage(frame: DataFrame, folder: Path, *, counted: bool) -> StagedRows:
    """Run the job and return what is durable now.

    :param counted: Let the job count its rows, and compare: an engine that writes to another disk
        than ours would otherwise look like a load of no rows.
    """
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
    return StagedRows(files=files, rows=found)


def require_clean(staged: StagedRows, contract: Contract) -> None:
    """Refuse the load when any staged row broke a rule, naming rows by their keys.

    Rows that are to be set aside stop nothing.
    """
    suspects = [file for file in staged.files if has_verdict(file)]
    if not suspects:
        return
    import pyarrow.compute as pc
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    schema = plain_schema(pq.read_schema(suspects[0]))
    dataset = ds.dataset(suspects, format="parquet", schema=schema)
    bad = dataset.filter(pc.field(RULE_COLUMN).is_valid() & ~_set_aside(contract))
    samples = bad.head(_SAMPLES).to_pylist()
    if not samples:
        return
    count = bad.count_rows()
    first = contract.rule(samples[0][RULE_COLUMN])
    lines = [f"  {text}" for text in _described(samples, contract)]
    if count > len(samples):
        lines.append(f"  ... and {count - len(samples):,} more")
    raise ContractError(
        f"{count:,} of {staged.rows:,} rows break the declaration of {contract.table.name}; "
        "nothing was written",
        where=contract.table.location,
        details="\n".join(lines),
        hint=first.remedy,
    )


def _described(samples: list[dict[str, Any]], contract: Contract) -> Iterator[str]:
    keys = contract.table.key_columns or tuple(column.name for column in contract.table.columns)[:4]
    for row in samples:
        named = ", ".join(f"{key}={_shown(row[key])}" for key in keys)
        problem = contract.rule(row[RULE_COLUMN]).describe(row[VALUE_COLUMN])
        yield f"row {named}: {problem}"


def _set_aside(contract: Contract) -> Any:
    """Return which rows leave the load, as a condition over staged rows."""
    import pyarrow.compute as pc

    numbers = [rule.number for rule in contract.rules if rule.sets_aside]
    return pc.field(RULE_COLUMN).isin(numbers)


def _shown(value: object) -> str:
    return "NULL" if value is None else str(value)


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
