"""What the readers of databases have in common: these run the whole query themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.files import FoundFiles
from ematix_flow.errors import NotSupported

if TYPE_CHECKING:
    from pyarrow import RecordBatchReader
    from pyspark.sql import DataFrame, SparkSession


class DatabaseReader(ABC):
    """Reads a query's rows a batch at a time; Spark finds them in a file."""

    __slots__ = ()

    @abstractmethod
    def batches(self, query: str, scratch: Path) -> AbstractContextManager[RecordBatchReader]:
        """Run *query* and give its rows a batch at a time."""

    def spool(self, query: str, scratch: Path) -> Path:
        """Run *query* and return its rows as a Parquet file in *scratch*."""
        with self.batches(query, scratch) as rows:
            return spooled(rows, scratch)

    def read_query(self, spark: SparkSession, query: str, scratch: Path) -> DataFrame:
        """Run *query* and spool its result, so that this process holds one batch at a time."""
        return frame_of(spark, self.spool(query, scratch))

    def read_relation(self, spark: SparkSession, relation: str) -> DataFrame:
        """Refuse: a database runs the whole query itself."""
        del spark, relation
        raise NotSupported("a database runs the whole query itself")


def spool_file(scratch: Path) -> Path:
    """Return the file in *scratch* for the rows of a query; its folder is there."""
    scratch.mkdir(parents=True, exist_ok=True)
    return scratch / "source.parquet"


def spooled(rows: RecordBatchReader, scratch: Path) -> Path:
    """Write *rows* into a Parquet file in *scratch*."""
    import pyarrow.parquet as pq

    spool = spool_file(scratch)
    # Read once and thrown away: what would make the file smaller costs more than it saves.
    options = {"compression": "lz4", "use_dictionary": False, "write_statistics": False}
    with pq.ParquetWriter(spool, rows.schema, **options) as writer:
        for batch in rows:
            writer.write_batch(batch)
    return spool


def frame_of(spark: SparkSession, spool: Path) -> DataFrame:
    """Return the rows of a spooled file."""
    return spark.read.parquet(*FoundFiles(path=spool, files=(spool,)).paths(spark))
