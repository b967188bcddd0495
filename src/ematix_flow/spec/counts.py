"""What a load did to rows, counted."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """Exact counts. `read` counts the rows the pipeline's query produced."""

    read: int = 0
    inserted: int = 0
    updated: int = 0
    unchanged: int = 0
    closed: int = 0
    deleted: int = 0
    quarantined: int = 0

    @property
    def changed(self) -> int:
        """How many rows of the target are not as they were."""
        return self.inserted + self.updated + self.closed + self.deleted

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return what is counted, in order."""
        return tuple(each.name for each in fields(cls))

    def to_json(self) -> dict[str, int]:
        """Return the counts as records store them."""
        return asdict(self)
