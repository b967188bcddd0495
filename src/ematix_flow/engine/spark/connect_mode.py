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
_before: str | None = None


def connected() -> bool:
    """Tell whether a Connect session that we opened is in use in this process."""
    return _open > 0


@contextmanager
def connect_mode() -> Iterator[None]:
    """Switch pyspark to Connect while at least one such engine is open."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _open, _before  # noqa: PLW0603  # the environment variable is process-wide, so are these
    with _lock:
        if _open == 0:
            _before = os.environ.get(_VARIABLE)
            os.environ[_VARIABLE] = "1"
        _open += 1


def _leave() -> None:
    """Give the variable back as the first of us found it, whoever leaves last."""
    global _open  # noqa: PLW0603  # see above
    with _lock:
        _open -= 1
        if _open > 0:
            return
        if _before is None:
            os.environ.pop(_VARIABLE, None)
        else:
            os.environ[_VARIABLE] = _before
