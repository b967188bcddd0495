"""Sortable, unique run ids."""

from __future__ import annotations

import secrets
from datetime import datetime
from uuid import UUID


def uuid7(now: datetime) -> UUID:
    """Return a version-7 UUID: ordered by time, so file names and logs sort by age."""
    milliseconds = int(now.timestamp() * 1000) & (1 << 48) - 1
    value = (milliseconds << 80) | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return UUID(int=value)
