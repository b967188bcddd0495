"""The first row of a CSV file, read the way Spark will read it."""

from __future__ import annotations

import codecs
import csv
from pathlib import Path

from ematix_flow.connections.model import CsvConnection
from ematix_flow.errors import DeclarationError


def check_marks(connection: CsvConnection) -> None:
    """Refuse a delimiter, quote or escape that is not one character of its own."""
    for name in ("delimiter", "quote", "escape"):
        value = getattr(connection, name)
        if len(value) != 1 or value in "\r\n\x00":
            raise DeclarationError(
                f"connection {connection.name!r}: {name} takes one character, not {value!r}",
                where=connection.origin or None,
                hint='a tab is "\\t"; rewrite files that use longer marks or none',
            )
    if connection.delimiter in (connection.quote, connection.escape):
        raise DeclarationError(
            f"connection {connection.name!r}: delimiter {connection.delimiter!r} is also its "
            "quote or escape",
            where=connection.origin or None,
        )


def python_encoding(connection: CsvConnection) -> str:
    """Return the encoding for Python; LookupError where there is no such."""
    name = codecs.lookup(connection.encoding).name
    # Java's UTF-8 keeps a byte-order mark as part of the first name; Spark drops it, so do we.
    return "utf-8-sig" if name == "utf-8" else name


def is_wide(connection: CsvConnection) -> bool:
    """Tell encodings whose characters are whole words of 2 or 4 bytes."""
    return python_encoding(connection).startswith(("utf-16", "utf-32"))


def first_row(file: Path, connection: CsvConnection) -> list[str]:
    """Return the fields of the first row that is not blank; [] where there is none."""
    doubled = connection.escape == connection.quote
    with file.open(encoding=python_encoding(connection), newline="") as opened:
        rows = csv.reader(
            opened,
            delimiter=connection.delimiter,
            quotechar=connection.quote,
            doublequote=doubled,
            escapechar=None if doubled else connection.escape,
        )
        return next((row for row in rows if row), [])


def column_names(first: list[str], connection: CsvConnection) -> list[str]:
    """Name the columns as Spark does: a column without a name is `_c` and its number."""
    names = first if connection.header else [""] * len(first)
    return [name or f"_c{number}" for number, name in enumerate(names)]
