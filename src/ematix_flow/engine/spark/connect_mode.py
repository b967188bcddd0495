"""Tell pyspark whether this process speaks Spark Connect right now.

pyspark's functions (`col`, `lit` ...) build classic or Connect columns depending
on one environment variable, so a process is in one mode at a time; this module
keeps that variable true to what is open.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_VARIABLE = "SPARK_CONNECT_MODE_ENABLED"

_lock = threading.Lock()
_open = 0


def connected() -> bool:
    """Say whether a Connect session that we opened is in use in this process."""
    return _open > 0


@contextmanager
def connect_mode() -> Iterator[None]:
    """Switch pyspark to Connect while at least one such engine is open."""
    global _open  # noqa: PLW0603  # the environment variable is process-wide, so is its count
    with _lock:
        if _open == 0 and _VARIABLE in os.environ:
            foreign = True  # the user's own choice: leave it as it is
        else:
            foreign = False
            os.environ[_VARIABLE] = "1"
        _open += 1
    try:
        yield
    finally:
        with _lock:
            _open -= 1
            if _open == 0 and not foreign:
                os.environ.pop(_VARIABLE, None)
