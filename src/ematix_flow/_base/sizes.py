"""Amounts of data, as people write them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_SIZE = re.compile(r"(?P<amount>\d+(?:\.\d+)?)\s*(?P<unit>[KMGT]?)i?B?", re.IGNORECASE)


def bytes_of(text: str) -> int | None:
    """Return how many bytes *text* means; None where it means none.

    >>> bytes_of("8 GB"), bytes_of("1.5m"), bytes_of("0"), bytes_of("much")
    (8589934592, 1572864, 0, None)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    return int(float(found["amount"]) * _UNITS[found["unit"].upper()])


def shown_bytes(count: int) -> str:
    """Return a size people read.

    >>> shown_bytes(3 * 1024 * 1024)
    '3 MiB'
    """
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
