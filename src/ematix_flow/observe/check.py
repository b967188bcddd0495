"""One line of `flow doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """How a thing stands."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was looked at, how it stands, and what to do about it."""

    name: str
    health: Health
    finding: str
    hint: str | None = None

    def to_json(self) -> dict[str, str | None]:
        """Return it as data."""
        return {
            "name": self.name,
            "health": self.health.value,
            "finding": self.finding,
            "hint": self.hint,
        }
