"""Streams that never stop the work: nobody has to read what we write, or know its letters."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal


class LenientFile(io.RawIOBase):
    """Passes what is written on to *raw* until that fails; from then on it is let go.

    So a reader that leaves (`| head`) or a full disk breaks neither a run nor its record.
    """

    def __init__(self, raw: Any) -> None:
        super().__init__()
        self._raw = raw
        self.failure: OSError | None = None

    def writable(self) -> bool:
        """Say that it is for writing."""
        return True

    def fileno(self) -> int:
        """Return the descriptor behind it."""
        return int(self._raw.fileno())

    def isatty(self) -> bool:
        """Tell whether a person reads it."""
        return bool(self._raw.isatty())

    def write(self, data: Any, /) -> int | None:
        """Write *data*, or seem to."""
        if self.failure is None:
            try:
                written: int | None = self._raw.write(data)
            except OSError as error:
                self.failure = error
            else:
                return written
        return len(data)


@contextmanager
def lenient(name: Literal["stdout", "stderr"]) -> Iterator[LenientFile]:
    """Let `sys.stdout` or `sys.stderr` be lenient; what it could not write is known at the end."""
    first: Any = getattr(sys, name)
    if first is not None and not hasattr(first, "buffer"):
        yield LenientFile(first)  # not a file, but something of a notebook or a test
        return
    # One that was closed before we began leads nowhere, and keeps its number from other files.
    given: Any = first or io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8")
    given.flush()
    file = LenientFile(getattr(given.buffer, "raw", given.buffer))
    stream = io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=given.encoding,
        errors="backslashreplace",  # not every stream can hold the names of tables and people
        line_buffering=given.line_buffering or given.write_through,
    )
    setattr(sys, name, stream)
    try:
        yield file
    finally:
        if not stream.closed:
            stream.flush()
        setattr(sys, name, first)
