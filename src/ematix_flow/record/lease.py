"""The lease: two runs of one pipeline never interleave on one machine.

Beyond one machine the fence on the target decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ematix_flow._base.clock import Clock, iso
from ematix_flow._base.files import private_directory
from ematix_flow._base.os_lock import LockHeld, os_lock
from ematix_flow.errors import ConfigError, PipelineBusy


@contextmanager
def pipeline_lease(directory: Path, pipeline: str, clock: Clock) -> Iterator[None]:
    """Hold *pipeline* for the block, or say who holds it."""
    with ExitStack() as held:
        try:
            private_directory(directory.parent)
            private_directory(directory)
            held.enter_context(os_lock(directory / f"{pipeline}.lock", since=iso(clock.now())))
        except LockHeld as error:
            raise PipelineBusy(
                f"pipeline {pipeline!r} is already running{error.told}",
                hint="wait for that run to end; `flow runs` shows it",
            ) from None
        except OSError as error:
            raise ConfigError(
                f"the project's state cannot be written to {str(directory)!r}: {error.strerror}",
                hint="make the project folder writable; nothing was run",
            ) from error
        yield
