"""The lease on a database that is a file: a lock of the operating system beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ematix_flow._base.os_lock import LockHeld, os_lock
from ematix_flow.errors import PipelineBusy, TargetError


@contextmanager
def file_lock(database: Path, pipeline: str, *, holder: str, since: str) -> Iterator[None]:
    """Hold *pipeline* on *database* for the block, or say who holds it."""
    file = database.with_name(f"{database.name}.{pipeline}.flow-lock")
    with ExitStack() as held:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(os_lock(file, since=since, holder=holder))
        except LockHeld as error:
            raise PipelineBusy(
                f"pipeline {pipeline!r} is already running{error.told}",
                hint="wait for that run to end, then run again",
            ) from None
        except OSError as error:
            raise TargetError(
                f"{str(file)!r} cannot be written: {error.strerror}",
                hint="a run locks its target with a file beside it: make the folder writable",
            ) from error
        yield
