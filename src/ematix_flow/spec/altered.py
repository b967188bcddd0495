"""A query whose columns are others than they were when the run was planned."""

from __future__ import annotations

from collections.abc import Sequence

from ematix_flow.errors import SourceError
from ematix_flow.spec.table import Table


def require_unaltered(found: Sequence[tuple[str, object]], planned: Table) -> None:
    """Refuse columns that are not those of *planned*, one by one.

    :param found: Each column of the query and what it is, now.
    """
    names = [name for name, _ in found]
    if names != list(planned.column_names):
        raise _altered(
            f"the query returns {', '.join(names)}, but returned "
            f"{', '.join(planned.column_names)} when the run was planned"
        )
    for (name, kind), column in zip(found, planned.columns, strict=True):
        if kind != column.type:
            raise _altered(
                f"column {name!r} of the query is {kind}, but was {column.type} when the run was "
                "planned"
            )


def _altered(what: str) -> SourceError:
    return SourceError(
        f"{what}; nothing was written", hint="was a table altered meanwhile? run again"
    )
