"""A loader that fails once per partition, when the rows are already in the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.ports import RowLoader

if TYPE_CHECKING:
    from pyarrow import RecordBatch


@dataclass(frozen=True)
class FailsOnce:
    load: RowLoader
    folder: Path

    def __call__(self, batches: Iterator[RecordBatch], task: str) -> None:
        self.load(batches, task)
        failed = self.folder / f"partition-{task.partition('.')[0]}"
        if not failed.exists():
            failed.touch()
            raise RuntimeError("the worker dies after its COPY")
