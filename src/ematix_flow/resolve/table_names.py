"""A table's name as users write it, read part by part."""

from __future__ import annotations

import re

from sqlglot import exp

from ematix_flow._base.location import Location
from ematix_flow.errors import DeclarationError

_PART = r"""(?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^."`]+)"""
_NAME_PART = re.compile(_PART)
_TABLE_NAME = re.compile(rf"{_PART}(?:\.{_PART})*")
# What sqlglot calls them, from the last part to the first.
_TABLE_PARTS = ("this", "db", "catalog")


def named_table(name: str, where: Location) -> exp.Table:
    """Read `orders`, `shop.orders` or `"odd.name"`: a name, so a reserved word is one too."""
    found = _TABLE_NAME.fullmatch(name)
    parts = [_unquoted(part) for part in _NAME_PART.findall(name)] if found else []
    if not 1 <= len(parts) <= len(_TABLE_PARTS):
        raise DeclarationError(
            f"source_table={name!r} is no table's name",
            where=where,
            hint='write table, schema.table or catalog.schema.table; quote what has a dot: "a.b"',
        )
    identifiers = (exp.to_identifier(part, quoted=True) for part in reversed(parts))
    return exp.Table(**dict(zip(_TABLE_PARTS, identifiers, strict=False)))


def _unquoted(part: str) -> str:
    quote = part[0]
    return part[1:-1].replace(quote * 2, quote) if quote in '"`' else part
