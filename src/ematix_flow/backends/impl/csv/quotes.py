"""Line ends inside quotes.

Spark reads a CSV file in parts, line by line, and so tears a field with a line end in
it: the halves may even have the right width. Reading whole records (`multiLine`) is
right, but then a file is one task. So small tables, whose files would hardly be split,
are looked through on the driver, and read that way only where they need it. Larger ones
are not: that would be a second pass over the data.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from ematix_flow.backends.files import FoundFiles
from ematix_flow.backends.impl.csv.header import is_wide, python_encoding
from ematix_flow.connections.model import CsvConnection
from ematix_flow.errors import SourceError

LOOKED_THROUGH = 64 * 2**20
_BLOCK = 2**20


def has_line_ends_in_quotes(found: FoundFiles, connection: CsvConnection) -> bool:
    """Tell whether records span lines, as far as that is cheap; refuse a quote left open."""
    wide = is_wide(connection)
    if sum(file.stat().st_size for file in found.files) > LOOKED_THROUGH:
        return wide
    quote = connection.quote.encode(python_encoding(connection).removesuffix("-sig"))
    suspects = [file for file in found.files if wide or _has_odd_line(file, quote)]
    spanning = [file for file in suspects if _spans_lines(file, connection)]
    # Lines of wide characters cannot be told by their bytes, so there records are read whole.
    return wide or bool(spanning)


def _has_odd_line(file: Path, quote: bytes) -> bool:
    """Tell, fast, whether any line has an odd number of quotes: all lines of most files do not."""
    rest = b""
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK):
            text, rest = rest + block, b""
            if quote in text:
                *lines, rest = text.replace(b"\r", b"\n").split(b"\n")
                if any(line.count(quote) % 2 for line in lines):
                    return True
    return rest.count(quote) % 2 == 1


def _spans_lines(file: Path, connection: CsvConnection) -> bool:
    text = file.read_bytes().decode(python_encoding(connection), errors="replace")
    spans = False
    for field in _quoted_field(connection).finditer(text):
        if not field["end"]:
            line = text.count("\n", 0, field.start("body")) + 1
            raise SourceError(
                f"{str(file)!r} has a quote that is never closed: it opens in line {line}",
                hint="close or double it: all rows after it would be one field",
            )
        spans = spans or "\n" in field["body"] or "\r" in field["body"]
    return spans


@cache
def _quoted_field(connection: CsvConnection) -> re.Pattern[str]:
    """Match a field that begins with a quote; `end` is empty where nothing closes it."""
    sep, quote, escape = map(re.escape, (connection.delimiter, connection.quote, connection.escape))
    escaped = quote + quote if quote == escape else f"{escape}."
    # Possessive: a field of millions of characters is walked once.
    body = f"(?:[^{quote}{escape}]++|{escaped})*+"
    return re.compile(rf"(?:\A|{sep}|[\r\n]){quote}(?P<body>{body})(?P<end>{quote}?)", re.DOTALL)
