"""Files that we may not look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def forbidden() -> Iterator[None]:
    """Let no file be looked at; the tests may run as root, whom no mode stops."""

    def refuse(self: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    # Only here: pytest and its plugins look at files too, as soon as a test is over.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Path, "stat", refuse)
        yield
