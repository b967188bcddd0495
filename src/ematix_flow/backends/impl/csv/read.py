"""Reading CSV.

What Spark would pass over stops the run: a row that is too short or too long, files of
one table with other columns, a quote left open, bytes that are not of the encoding.
A line end inside quotes arrives as `\\n`.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.file_reader import FileReader
from ematix_flow.backends.files import FoundFiles, check_each, find_files, real_format
from ematix_flow.backends.impl.csv.header import check_marks, column_names, first_row, is_wide
from ematix_flow.backends.impl.csv.quotes import has_line_ends_in_quotes
from ematix_flow.connections.model import CsvConnection
from ematix_flow.errors import SourceError
from ematix_flow.ports import ActualColumn, SourceFacts
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# What decoders put where bytes are not of the encoding.
_UNDECODED = "\N{REPLACEMENT CHARACTER}"
_NAMING_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class CsvReader(FileReader):
    """A folder of CSV files, or one file."""

    kind = "csv"

    connection: CsvConnection

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the files without reading a row."""
        found, names = self._find(relation or "")
        return replace(found.facts, columns=self._columns(names))

    def read_relation(self, spark: SparkSession, relation: str) -> DataFrame:
        """Return the file as rows."""
        connection = self.connection
        found, names = self._find(relation)
        reader = spark.read.options(
            header=connection.header,
            sep=connection.delimiter,
            quote=connection.quote,
            escape=connection.escape,
            nullValue=connection.null_value,
            encoding=connection.encoding,
            multiLine=has_line_ends_in_quotes(found, connection),
            # A short or long row, or a value that breaks a declared column, stops the run:
            # Spark's default would fill it with NULL and say nothing.
            mode="FAILFAST",
            # Rows are only seen to be short or long when they are parsed whole.
            columnPruning=False,
        )
        match connection.schema:
            case "infer":
                reader = reader.option("inferSchema", True)
            case "text":
                reader = reader.schema(
                    ", ".join(f"{quoted(name, 'spark')} STRING" for name in names)
                )
            case columns:
                reader = reader.schema(columns)
        frame = reader.csv(found.paths(spark))
        if connection.schema == "text":
            return _decoded(frame, found.path, connection, dict.fromkeys(names, "string"))
        types = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
        if connection.header:
            _require_header(found, names, list(types))
        return _decoded(frame, found.path, connection, types)

    def _columns(self, names: list[str]) -> tuple[ActualColumn, ...] | None:
        """Return the header as columns of text; other types are Spark's to tell."""
        if self.connection.schema != "text":
            return None
        return tuple(ActualColumn(name=name, type="STRING", nullable=True) for name in names)

    def _find(self, relation: str) -> tuple[FoundFiles, list[str]]:
        """Return the files and their columns; every file must agree on its header."""
        check_marks(self.connection)
        found = find_files(self.connection.location, relation, ".csv")
        rows: list[list[str]] = []
        check_each(found, lambda file, start: self._problem(file, start, rows))
        if self.connection.header:
            for file, row in zip(found.files, rows, strict=True):
                if row != rows[0]:
                    raise SourceError(
                        f"{str(file)!r} has other columns ({', '.join(row)}) "
                        f"than {found.files[0].name} ({', '.join(rows[0])})"
                    )
        return found, rows[0]

    def _problem(self, file: Path, start: bytes, rows: list[list[str]]) -> str | None:
        """Tell what is wrong with *file*; otherwise add its columns to *rows*."""
        if (other := real_format(start)) is not None:
            return f"is not CSV: it is {other}"
        encoding = self.connection.encoding
        try:
            if b"\x00" in start and not is_wide(self.connection):
                return "is not CSV: it holds NUL bytes"
            first = first_row(file, self.connection)
        except LookupError:
            return f"cannot be read: there is no encoding {encoding!r}"
        except UnicodeError as error:
            return f"is not {encoding}: {_where_undecoded(error)}"
        except csv.Error as error:
            return f"has a first row that cannot be read ({error}): is a quote left open?"
        if not first:
            return "has no rows and no header, only blank lines"
        names = column_names(first, self.connection)
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            return f"has the column {repeated[0]!r} more than once in its header"
        rows.append(names)
        return None


def _where_undecoded(error: UnicodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"{error.reason} at byte {error.start}"
    return str(error)


def _require_header(found: FoundFiles, header: list[str], declared: list[str]) -> None:
    """Refuse files whose header differs from the schema: Spark goes by position alone."""
    if [name.casefold() for name in header] != [name.casefold() for name in declared]:
        raise SourceError(
            f"{str(found.files[0])!r} has the columns {', '.join(header)}, "
            f"but the connection's schema says {', '.join(declared)}",
            hint="name the columns of `schema` in the order of the file",
        )


def _decoded(
    frame: DataFrame, path: Path, connection: CsvConnection, types: dict[str, str]
) -> DataFrame:
    """Stop at text that could not be decoded, and put NULL where the text means it."""
    from pyspark.sql import functions

    columns = {name: functions.col(quoted(name, "spark")) for name in types}
    row = functions.concat_ws(
        ", ",
        *(
            functions.concat(
                functions.lit(f"{name}="),
                functions.coalesce(column.cast("string"), functions.lit("NULL")),
            )
            for name, column in list(columns.items())[:_NAMING_COLUMNS]
        ),
    )

    def checked(name: str, column: Column) -> Column:
        # "Parser error" is how the engines say, and we know, that the source is at fault.
        failure = functions.concat(
            functions.lit(
                f"CSV Parser error: {path}: column {name!r} holds {_UNDECODED}, which stands for "
                f"bytes that are not {connection.encoding}: "
            ),
            column,
            functions.lit(" (row "),
            row,
            functions.lit(")"),
        )
        undecoded = column.contains(_UNDECODED)
        good = functions.when(undecoded, functions.raise_error(failure)).otherwise(column)
        if not connection.null_value:
            return good
        # Sail passes over Spark's option for it.
        return functions.nullif(good, functions.lit(connection.null_value))

    return frame.select(
        *(
            (checked(name, column) if types[name] == "string" else column).alias(name)
            for name, column in columns.items()
        )
    )
