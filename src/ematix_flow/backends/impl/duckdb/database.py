"""Opening a DuckDB file: late, briefly, and waiting for others.

DuckDB lets one process write, and while it does no other can even read. So a file is
opened only for the moment it is needed, and a taken one is waited for up to a deadline.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.base import missing_driver
from ematix_flow.errors import (
    FlowError,
    QueryError,
    SourceError,
    SourceMissing,
    TargetBusy,
    TargetError,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MAGIC = b"DUCK"
_MAGIC_OFFSET = 8
_BUSY_SECONDS = 30.0
_RETRY_SECONDS = 0.1


def check_file(path: Path) -> None:
    """Refuse a path that is not a DuckDB database."""
    if not path.exists():
        raise SourceMissing(f"DuckDB database {str(path)!r} does not exist")
    if path.is_dir():
        raise SourceError(f"{str(path)!r} is a folder, not a DuckDB database")
    with path.open("rb") as file:
        start = file.read(_MAGIC_OFFSET + len(_MAGIC))
    if start[_MAGIC_OFFSET:] != _MAGIC:
        raise SourceError(f"{str(path)!r} is not a DuckDB database")


@contextmanager
def opened(path: Path, *, read_only: bool) -> Iterator[DuckDBPyConnection]:
    """Open the database, waiting for whoever holds it."""
    if path.exists() or read_only:
        check_file(path)
    else:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TargetError(f"{str(path)!r} cannot be created: {error.strerror}") from error
    with translating(path), closing(_connect(path, read_only=read_only)) as database:
        database.execute("SET TimeZone = 'UTC'")
        yield database


def _connect(path: Path, *, read_only: bool) -> DuckDBPyConnection:
    try:
        import duckdb
    except ImportError as error:
        missing_driver("duckdb", "duckdb", error)
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only)
        except duckdb.IOException as error:
            if "lock" not in str(error).lower():
                raise
            if time.monotonic() >= deadline:
                raise TargetBusy(
                    f"DuckDB database {str(path)!r} is held by another process",
                    hint="close the other process (an open DuckDB shell counts), then run again",
                    details=str(error).partition("\n")[0],
                ) from error
            time.sleep(_RETRY_SECONDS)


@contextmanager
def translating(path: Path) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except FlowError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("duckdb", "_duckdb")):
            raise
        first_line = str(error).partition("\n")[0]
        match type(error).__name__:
            case "BinderException" | "CatalogException" | "ParserException":
                raise QueryError(
                    f"DuckDB refuses the query: {first_line}", where=str(path)
                ) from error
            case "ConstraintException":
                raise TargetError(
                    "DuckDB refuses a row that is already there or breaks a constraint: "
                    f"{first_line}",
                    where=str(path),
                    hint="append adds rows; filter what was loaded before, or use mode truncate",
                ) from error
            case _:
                raise TargetError(f"DuckDB: {first_line}", where=str(path)) from error
