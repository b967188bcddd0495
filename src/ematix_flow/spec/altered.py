"""A query whose columns are others than they were when the run was planned."""

from __future__ import annotations

from ematix_flow.errors import SourceError
from ematix_flow.spec.table import Column


def altered(column: Column, found: object | None) -> SourceError:
    """Return the error.

    :param column: As it was.
    :param found: What it is now; None where it is gone.
    """
    seen = "is missing" if found is None else f"is {found}"
    return SourceError(
        f"column {column.name!r} of the query {seen}, but was {column.type} when the run was "
        "planned; nothing was written",
        hint="was a table altered meanwhile? run again",
    )
