"""Staged rows on their way into MySQL, into a table of this commit alone.

By LOAD DATA LOCAL where the server takes it, else by INSERTs of many rows. LOAD DATA LOCAL makes
warnings of its errors and changes what does not fit, so the first warning ends the load.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ematix_flow.backends.impl.mysql.database import Connection, fetch, run
from ematix_flow.backends.impl.mysql.failures import BREAKS_CHECK, MISFITS, number_of, words_of
from ematix_flow.backends.impl.mysql.values import (
    is_hexadecimal,
    lines_of,
    python_value,
    row_named,
    texts_of,
)
from ematix_flow.errors import ContractError
from ematix_flow.spec.table import Table
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    import pyarrow as pa

# A statement has to fit into max_allowed_packet, of which a server has 1 MB or more.
_STATEMENT_BYTES = 500_000
_ROW = re.compile(r" at row (?P<row>\d+)")
_NOTE = "Note"


def load(
    database: Connection, batches: Iterable[pa.RecordBatch], table: Table, relation: str
) -> None:
    """Fill *relation*, which is there, with rows that have the columns of *table*."""
    into = _Into(database=database, table=table, relation=relation)
    if not _takes_files(database):
        for batch in batches:
            into.insert(batch)
        return
    with tempfile.TemporaryDirectory(prefix="ematix-flow-") as folder:
        for batch in batches:
            into.load_file(batch, Path(folder) / "rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Into:
    database: Connection
    table: Table
    relation: str

    @property
    def target(self) -> str:
        return quoted(self.relation, "mysql")

    def load_file(self, batch: pa.RecordBatch, file: Path) -> None:
        with file.open("wb") as out:
            out.write(lines_of(texts_of(batch, self.table)))
            out.write(b"\n")
        variables, sets = [], []
        for number, column in enumerate(self.table.columns):
            name = quoted(column.name, "mysql")
            if is_hexadecimal(column):
                variables.append(f"@v{number}")
                sets.append(f"{name} = UNHEX(@v{number})")
            else:
                variables.append(name)
        done = f" SET {', '.join(sets)}" if sets else ""
        sql = (
            f"LOAD DATA LOCAL INFILE ? INTO TABLE {self.target} CHARACTER SET utf8mb4 "
            r"FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' "
            f"({', '.join(variables)}){done}"
        )
        with self._naming(batch, 0):
            run(self.database, sql, (str(file),))
        for level, _, what in fetch(self.database, "SHOW WARNINGS"):
            if level != _NOTE:
                raise self._misfit(batch, 0, what)

    def insert(self, batch: pa.RecordBatch) -> None:
        marks = ", ".join(
            "UNHEX(%s)" if is_hexadecimal(column) else "%s" for column in self.table.columns
        )
        names = ", ".join(quoted(column.name, "mysql") for column in self.table.columns)
        # The driver's own parameters: to look for ours in such texts would take longer than they.
        insert = f"INSERT INTO {self.target} ({names}) VALUES ".replace("%", "%%")  # noqa: S608
        texts = (column.to_pylist() for column in texts_of(batch, self.table))
        start = 0
        for rows in _statements(list(zip(*texts, strict=True))):
            sql = insert + ", ".join([f"({marks})"] * len(rows))
            with self._naming(batch, start), self.database.cursor() as cursor:
                cursor.execute(sql, [value for row in rows for value in row])
            start += len(rows)

    @contextmanager
    def _naming(self, batch: pa.RecordBatch, start: int) -> Iterator[None]:
        """Say of a value that does not fit whose it is.

        :param start: Where in *batch* the statement's rows begin.
        """
        from pymysql.err import MySQLError  # type: ignore[import-untyped]

        try:
            yield
        except MySQLError as error:
            if number_of(error) not in (*MISFITS, *BREAKS_CHECK):
                raise
            raise self._misfit(batch, start, words_of(error)) from error

    def _misfit(self, batch: pa.RecordBatch, start: int, what: str) -> ContractError:
        # "Data too long for column 'name' at row 3", "CONSTRAINT `staging.name` failed for ..."
        told = (
            name
            for name in self.table.column_names
            if re.search(rf"['`.]{re.escape(name)}['`]", what)
        )
        column = next(told, None)
        place = _ROW.search(what)
        position = start + int(place["row"]) - 1 if place else self._no_json(batch, column)
        what = what[: place.start()] if place else what
        if position is None:
            return ContractError(f"MySQL cannot hold a value: {what}")
        row = row_named(batch, position, self.table)
        value = (
            f"{column}: {python_value(batch.column(column)[position])!r}" if column else "a value"
        )
        return ContractError(
            f"MySQL cannot hold {value} ({what}; {row})",
            hint="declare a wider type, or change the value in the query",
        )

    def _no_json(self, batch: pa.RecordBatch, column: str | None) -> int | None:
        """Return the first row whose text is no JSON: of that, no server tells the row."""
        if column is None:
            return None
        values = batch.column(column).to_pylist()
        for position, value in enumerate(values):
            if value is not None and fetch(self.database, "SELECT JSON_VALID(?)", (value,)) == [
                (0,)
            ]:
                return position
        return None


def _statements(rows: Sequence[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Divide rows into statements of a size that every server takes."""
    taken: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        # Quotes and escapes at most double a text.
        length = sum(2 * len(value.encode()) + 4 if value is not None else 6 for value in row)
        if taken and size + length > _STATEMENT_BYTES:
            yield taken
            taken, size = [], 0
        taken.append(row)
        size += length
    if taken:
        yield taken


def _takes_files(database: Connection) -> bool:
    from pymysql.constants import CLIENT  # type: ignore[import-untyped]

    if not database.client_flag & CLIENT.LOCAL_FILES:
        return False
    [(allowed,)] = fetch(database, "SELECT @@local_infile")
    return bool(int(allowed))
