"""File locks between test runs: one for whoever changes a service, one for all who use it.

Both are `flock`s: the kernel lets go of them when a test run dies, however it dies. Python opens
files non-inheritable, so a server started under a lock does not keep it.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Wait until nobody else holds `path`, then hold it alone."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Hold `path` together with others who only use what it guards."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


def is_held(path: Path) -> bool:
    """Whether anybody, this process included, holds `path` at the moment."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
