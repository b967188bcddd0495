"""Stands in for a Spark session where a test only wants what a source spooled."""

from __future__ import annotations

import re
from typing import Any


class SpoolReader:
    """`spark.read.parquet(path)` without Spark: undoes the escapes, gives the Arrow table."""

    @property
    def read(self) -> SpoolReader:
        return self

    def parquet(self, path: str) -> Any:
        import pyarrow.parquet as pq

        bare = re.sub(r"\\.", "", path)
        assert not re.search(r"[\[\]{}*?]", bare), f"{path} would be read as a pattern"
        # A single file, without the reader's own ideas about the folders it lies in.
        return pq.ParquetFile(re.sub(r"\\(.)", r"\1", path)).read()
