"""What sqlglot reads differently from the engine whose dialect it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ematix_flow.errors import DialectError
from ematix_flow.sqltext.dialect import as_written

if TYPE_CHECKING:
    from sqlglot import exp

    from ematix_flow._base.location import Location

# The engines cast the date; sqlglot first casts the text, then makes a date of it.
_TYPED_THEN_CAST = re.compile(
    r"\b(?:date|time|timestamp|timestamptz|interval)\s+'[^']*'\s*::\s*\w+", re.IGNORECASE
)


def check_reading(query: exp.Query, *, write: str, where: Location | str) -> None:
    """Refuse a text whose tree would not mean what the user wrote."""
    found = _TYPED_THEN_CAST.search(as_written(query) or "")
    if found:
        raise DialectError.about(
            found[0],
            "the order of the two casts is read differently",
            "put brackets around the literal: (DATE '2024-01-05')::text",
            write=write,
            where=where,
        )
