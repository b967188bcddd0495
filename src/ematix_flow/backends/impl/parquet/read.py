"""Reading Parquet.

Spark takes the columns of one file for those of the table and fills what others lack
with NULL, so files of one table that disagree are refused.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.file_reader import FileReader
from ematix_flow.backends.files import FoundFiles, check_each, find_files, real_format
from ematix_flow.backends.impl.parquet.types import spark_type
from ematix_flow.connections.model import ParquetConnection
from ematix_flow.errors import SourceError
from ematix_flow.ports import ActualColumn, SourceFacts

if TYPE_CHECKING:
    import pyarrow.parquet as pq
    from pyspark.sql import DataFrame, SparkSession

_MAGIC = b"PAR1"


@dataclass(frozen=True, slots=True)
class ParquetReader(FileReader):
    """A folder of Parquet files, or one file."""

    kind = "parquet"

    connection: ParquetConnection

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the files without reading a row."""
        found = self._find(relation or "")
        return replace(found.facts, columns=_described(found.files[0]))

    def read_relation(self, spark: SparkSession, relation: str) -> DataFrame:
        """Return the file or folder as rows."""
        found = self._find(relation)
        _require_same_columns(found)
        return spark.read.parquet(*found.paths(spark))

    def _find(self, relation: str) -> FoundFiles:
        return check_each(find_files(self.connection.location, relation, ".parquet"), _problem)


def _problem(file: Path, start: bytes) -> str | None:
    if not start.startswith(_MAGIC):
        other = real_format(start)
        return "is not Parquet" + (f": it is {other}" if other else "")
    with file.open("rb") as opened:
        opened.seek(-min(len(_MAGIC), file.stat().st_size), os.SEEK_END)
        if opened.read() != _MAGIC or file.stat().st_size < 12:
            return "is not whole: its end is missing (was its writer interrupted?)"
    return None


def _require_same_columns(found: FoundFiles) -> None:
    """Compare the footers: names and types, in any order."""
    first, *others = found.files
    if not others:
        return
    wanted = _columns(first)
    for file in others:
        if different := sorted(dict(_columns(file) ^ wanted)):
            raise SourceError(
                f"{str(file)!r} has other columns than {first.name}: "
                f"{', '.join(different)} differ in name or type"
            )


def _columns(file: Path) -> frozenset[tuple[str, str]]:
    schema = _footer(file).schema
    leaves = (schema.column(index) for index in range(len(schema)))
    return frozenset((leaf.path, f"{leaf.physical_type} {leaf.logical_type}") for leaf in leaves)


def _described(file: Path) -> tuple[ActualColumn, ...]:
    """Return the columns of one file, as Spark will type them."""
    return tuple(
        ActualColumn(name=field.name, type=spark_type(field.type), nullable=True)
        for field in _footer(file).schema.to_arrow_schema()
    )


def _footer(file: Path) -> pq.FileMetaData:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(file)
    except (OSError, pa.ArrowException) as error:
        raise SourceError(f"{str(file)!r} is not Parquet that can be read: {error}") from error
