"""Databases in the memory of this process, known by a name such as `:memory:shop`."""

from __future__ import annotations

from pathlib import Path

from ematix_flow.backends.failure import Failure, missing
from ematix_flow.connections.model.databases import IN_MEMORY
from ematix_flow.errors import FlowError


def is_in_memory(path: Path) -> bool:
    """Tell the name of such a database from a file."""
    return str(path).startswith(IN_MEMORY)


def never_written(path: Path, failure: Failure) -> FlowError:
    """Return the error for a name that nobody has written to: there is nothing to look at."""
    return missing(failure)(
        f"there is no database {str(path)!r}: nothing was written to it in this process",
        hint="what is in memory ends with its process; give a file to keep it",
    )
