"""Tables of a database, looked up by the name a query gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ematix_flow._base.suggest import did_you_mean
from ematix_flow.errors import SourceMissing
from ematix_flow.spec.table import TableName

_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTable:
    """A table or view that a query can read.

    :param size_bytes: None where the database does not tell: of a view, say.
    """

    name: TableName
    size_bytes: int | None = None


def missing_table(relation: str, place: str, known: Sequence[str]) -> SourceMissing:
    """Return the error for a table that *place* does not have, naming those it has."""
    shown = ", ".join(known[:_SHOWN]) + (" ..." if len(known) > _SHOWN else "")
    return SourceMissing(
        f"there is no table {relation} in {place}"
        + did_you_mean(relation, known)
        + (f" (it has: {shown})" if known else " (it has no tables)")
    )
