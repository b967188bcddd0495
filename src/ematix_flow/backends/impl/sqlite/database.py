"""Opening a SQLite file, with its errors made plain."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from ematix_flow.errors import (
    FlowError,
    QueryError,
    SourceError,
    SourceMissing,
    TargetBusy,
    TargetError,
)

_MAGIC = b"SQLite format 3\x00"
# How long to wait for another writer before giving up.
_BUSY_SECONDS = 30.0


def check_file(path: Path) -> None:
    """Refuse a path that is not a SQLite database."""
    if not path.exists():
        raise SourceMissing(f"SQLite database {str(path)!r} does not exist")
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder, not a SQLite database")
    with path.open("rb") as file:
        start = file.read(len(_MAGIC))
    # SQLite itself creates an empty file first, so an empty one is an empty database.
    if start and start != _MAGIC:
        raise SourceError(f"{str(path)!r} is not a SQLite database")


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open an existing database for looking."""
    check_file(path)
    uri = f"file:{quote(str(path))}?mode=ro"
    with (
        translating(path),
        closing(
            sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        ) as database,
    ):
        yield database


@contextmanager
def read_write(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database for writing, creating it where it does not exist."""
    if path.exists():
        check_file(path)
    else:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TargetError(f"{str(path)!r} cannot be created: {error.strerror}") from error
    with (
        translating(path),
        closing(sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)) as database,
    ):
        yield database


@contextmanager
def translating(path: Path) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except FlowError:
        raise
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise TargetBusy(
                f"SQLite database {str(path)!r} is held by another process: {error}",
                hint="run again when the other writer is done",
            ) from error
        if error.sqlite_errorname == "SQLITE_ERROR":
            raise QueryError(f"SQLite refuses the query: {error}", where=str(path)) from error
        raise TargetError(f"SQLite: {error}", where=str(path)) from error
    except sqlite3.IntegrityError as error:
        raise TargetError(
            f"SQLite refuses a row that is already there or breaks a constraint: {error}",
            where=str(path),
            hint="append adds rows; filter what was loaded before, or use mode truncate",
        ) from error
    except sqlite3.Error as error:
        raise TargetError(f"SQLite: {error}", where=str(path)) from error
