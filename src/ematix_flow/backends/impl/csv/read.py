"""Reading CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.files import FoundFiles, check_each, find_files, real_format
from ematix_flow.connections.model import CsvConnection
from ematix_flow.errors import NotSupported, SourceError
from ematix_flow.ports import SourceFacts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class CsvReader:
    """A folder of CSV files, or one file."""

    connection: CsvConnection

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the files without reading a row."""
        return self._find(relation or "").facts

    def read_relation(self, spark: SparkSession, relation: str) -> DataFrame:
        """Return the file as rows."""
        found = self._find(relation)
        reader = spark.read.options(
            header=self.connection.header,
            sep=self.connection.delimiter,
            quote=self.connection.quote,
            escape=self.connection.escape,
            nullValue=self.connection.null_value,
            encoding=self.connection.encoding,
            # A short or long row, or a value that breaks a declared column, stops the run:
            # Spark's default would fill it with NULL and say nothing.
            mode="FAILFAST",
        )
        match self.connection.schema:
            case "infer":
                reader = reader.option("inferSchema", True)
            case "text":
                names = self._header(found)
                frame = reader.schema(_text_schema(names)).csv(found.uri)
                return _with_nulls(frame, self.connection.null_value)
            case columns:
                # The header must then agree with the columns, in name and order.
                reader = reader.schema(columns).option("enforceSchema", False)
        return reader.csv(found.uri)

    def read_query(self, spark: SparkSession, query: str, scratch: Path) -> DataFrame:
        """Refuse: queries over files run on Spark."""
        del spark, query, scratch
        raise NotSupported("csv files cannot run a query")

    def _find(self, relation: str) -> FoundFiles:
        found = find_files(self.connection.location, relation, ".csv")
        return check_each(found, self._problem)

    def _problem(self, file: Path, start: bytes) -> str | None:
        if (other := real_format(start)) is not None:
            return f"is not CSV: it is {other}"
        wide = self.connection.encoding.upper().startswith(("UTF-16", "UTF-32", "UTF16", "UTF32"))
        if b"\x00" in start and not wide:
            return "is not CSV: it holds NUL bytes"
        try:
            header = _first_row(file, self.connection)
        except LookupError:
            return f"cannot be read: there is no encoding {self.connection.encoding!r}"
        except UnicodeDecodeError as error:
            return f"is not {self.connection.encoding}: {error.reason} at byte {error.start}"
        repeated = sorted({name for name in header if header.count(name) > 1})
        if self.connection.header and repeated:
            return f"has the column {repeated[0]!r} more than once in its header"
        return None

    def _header(self, found: FoundFiles) -> list[str]:
        """Return the column names; every file must agree, for Spark reads them by position."""
        first = _first_row(found.files[0], self.connection)
        if not self.connection.header:
            return [f"_c{number}" for number in range(len(first))]
        for file in found.files[1:]:
            if (other := _first_row(file, self.connection)) != first:
                raise SourceError(
                    f"{str(file)!r} has other columns ({', '.join(other)}) "
                    f"than {found.files[0].name} ({', '.join(first)})"
                )
        return first


def _first_row(file: Path, connection: CsvConnection) -> list[str]:
    # Java's UTF-8 keeps a byte-order mark as part of the first name; Spark drops it, so do we.
    encoding = "utf-8-sig" if connection.encoding.upper() == "UTF-8" else connection.encoding
    with file.open(encoding=encoding, newline="") as opened:
        rows = csv.reader(opened, delimiter=connection.delimiter, quotechar=connection.quote)
        return next((row for row in rows if row), [])


def _with_nulls(frame: DataFrame, null_value: str) -> DataFrame:
    """Replace the text that means NULL; Sail passes over Spark's option for it."""
    if not null_value:
        return frame
    from pyspark.sql import functions

    columns = (functions.col(_quoted(name)) for name in frame.columns)
    return frame.select(
        *(
            functions.nullif(column, functions.lit(null_value)).alias(name)
            for column, name in zip(columns, frame.columns, strict=True)
        )
    )


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _text_schema(names: list[str]) -> str:
    return ", ".join(f"{_quoted(name)} STRING" for name in names)
