"""Opening a SQLite file, with its errors made plain.

Nothing but SQLite opens the file: closing any other handle of it would give up the locks
of every connection this process has (https://sqlite.org/howtocorrupt.html, 2.2).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from ematix_flow.backends.impl.sqlite.functions import add_functions
from ematix_flow.backends.impl.sqlite.memory import is_kept, uri_of
from ematix_flow.backends.in_memory import is_in_memory, never_written
from ematix_flow.errors import (
    FlowError,
    QueryError,
    SourceError,
    SourceMissing,
    TargetBusy,
    TargetError,
)

# What is wrong with a database is the source's fault or the target's, as it is used.
Failure = type[SourceError] | type[TargetError]

# How long to wait for another writer before giving up.
_BUSY_SECONDS = 30.0


def is_there(path: Path, failure: Failure) -> bool:
    """Tell whether there is something at *path*; not being allowed to look is an error."""
    if is_in_memory(path):
        return is_kept(path)
    try:
        return path.exists()
    except OSError as error:
        raise failure(f"{str(path)!r} cannot be read: {error.strerror}") from error


def check_file(path: Path, failure: Failure) -> None:
    """Refuse a path that cannot be a SQLite database. An empty file is an empty database."""
    if not is_there(path, failure):
        missing = SourceMissing if failure is SourceError else failure
        if is_in_memory(path):
            raise never_written(path, missing)
        raise missing(f"SQLite database {str(path)!r} does not exist")
    if is_in_memory(path):
        return
    if path.is_dir():
        raise failure(f"{str(path)!r} is a folder, not a SQLite database")
    if not os.access(path, os.R_OK):
        raise failure(
            f"{str(path)!r} cannot be read: permission denied",
            hint="let the user of this process read the file",
        )


@contextmanager
def read_only(path: Path, failure: Failure) -> Iterator[sqlite3.Connection]:
    """Open an existing database for looking."""
    check_file(path, failure)
    uri = f"{uri_of(path)}&mode=ro" if is_in_memory(path) else f"file:{quote(str(path))}?mode=ro"
    with (
        translating(path, failure),
        closing(
            sqlite3.connect(
                uri,
                uri=True,
                timeout=_BUSY_SECONDS,
                isolation_level=None,
                # Whoever takes the rows may do so in a thread of its own, as DuckDB does.
                check_same_thread=False,
            )
        ) as database,
    ):
        add_functions(database)
        yield database


@contextmanager
def read_write(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for writing, creating it where it does not exist."""
    if is_in_memory(path):
        place = uri_of(path)
    else:
        _make_room(path)
        place = f"file:{quote(str(path))}"
    with (
        translating(path, TargetError),
        closing(
            sqlite3.connect(place, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        ) as database,
    ):
        add_functions(database)
        yield database


def _make_room(path: Path) -> None:
    """See to it that SQLite can create the database."""
    if is_there(path, TargetError):
        check_file(path, TargetError)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TargetError(f"{str(path)!r} cannot be created: {error.strerror}") from error


@contextmanager
def translating(path: Path, failure: Failure) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except FlowError:
        raise
    except sqlite3.IntegrityError as error:
        raise TargetError(
            f"SQLite refuses a row that is already there or breaks a constraint: {error}",
            where=str(path),
            hint="append adds rows; filter what was loaded before, or use mode merge",
        ) from error
    except sqlite3.Error as error:
        # Errors of the driver itself, such as text that is not UTF-8, have no code.
        code: str = getattr(error, "sqlite_errorname", "")
        if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise TargetBusy(
                f"SQLite database {str(path)!r} is held by another process: {error}",
                hint="run again when the other writer is done",
            ) from error
        if code == "SQLITE_NOTADB":
            raise failure(f"{str(path)!r} is not a SQLite database") from error
        if code == "SQLITE_ERROR":
            raise QueryError(f"SQLite refuses the query: {error}", where=str(path)) from error
        raise failure(f"SQLite: {error}", where=str(path)) from error
