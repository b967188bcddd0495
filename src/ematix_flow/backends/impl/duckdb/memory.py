"""DuckDB databases in the memory of this process, found again by their names.

The first connection is kept until the process ends, and with it the database. Whoever uses
it gets a cursor: a connection of its own, with its own transaction and temporary tables.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.failure import missing_driver

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_kept: dict[str, DuckDBPyConnection] = {}
_keeping = threading.Lock()


def is_kept(path: Path) -> bool:
    """Tell whether anybody has written to that name in this process."""
    return str(path) in _kept


def connect_to(path: Path) -> DuckDBPyConnection:
    """Return a connection to the database of that name, making it where there is none."""
    try:
        import duckdb
    except ImportError as error:
        raise missing_driver("duckdb", "duckdb") from error
    with _keeping:
        if str(path) not in _kept:
            _kept[str(path)] = duckdb.connect(":memory:")
        return _kept[str(path)].cursor()
