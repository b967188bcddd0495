"""A value on its way into a column of another type."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Converted:
    """A value as SQL, and when it is not the value that was given (None: never)."""

    value: str
    breaks: str | None = None
