"""Tables of a database, looked up by the name a query gives them."""

from __future__ import annotations

from collections.abc import Sequence

from ematix_flow._base.suggest import did_you_mean
from ematix_flow.errors import SourceMissing

_SHOWN = 10


def missing_table(relation: str, place: str, known: Sequence[str]) -> SourceMissing:
    """Return the error for a table that *place* does not have, naming those it has."""
    shown = ", ".join(known[:_SHOWN]) + (" ..." if len(known) > _SHOWN else "")
    return SourceMissing(
        f"there is no table {relation} in {place}"
        + did_you_mean(relation, known)
        + (f" (it has: {shown})" if known else " (it has no tables)")
    )
