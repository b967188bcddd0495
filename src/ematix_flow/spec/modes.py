"""How rows meet the rows that are already there."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """The write modes of this version."""

    APPEND = "append"
    TRUNCATE = "truncate"
