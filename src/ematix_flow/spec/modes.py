"""How rows meet the rows that are already there, and the closed choices around it."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """The write modes."""

    APPEND = "append"
    TRUNCATE = "truncate"
    MERGE = "merge"
    SCD1 = "scd1"
    SCD2 = "scd2"

    @property
    def needs_key(self) -> bool:
        """Tell whether rows are matched with those that are there."""
        return self in (Mode.MERGE, Mode.SCD1, Mode.SCD2)


class OnDrift(StrEnum):
    """What to do where the target differs from its declaration."""

    ERROR = "error"
    WARN = "warn"
    EVOLVE = "evolve"
    DISCARD_VALUE = "discard_value"
    DISCARD_ROW = "discard_row"


class HandleDeletes(StrEnum):
    """What happens to rows whose key is missing from a full snapshot."""

    IGNORE = "ignore"
    HARD = "hard"
    SOFT = "soft"


class OnDuplicateKeys(StrEnum):
    """What happens when the input holds one key twice."""

    ERROR = "error"
    LAST = "last"
    QUARANTINE = "quarantine"


class OnQualityFailure(StrEnum):
    """What happens to rows that break an expectation."""

    WARN = "warn"
    DROP = "drop"
    QUARANTINE = "quarantine"
    FAIL = "fail"


class CatchUp(StrEnum):
    """Which missed slots of a schedule are run."""

    NONE = "none"
    LAST = "last"
    ALL = "all"


class Path(StrEnum):
    """Where the rows go through."""

    IN_DATABASE = "in_database"
    """They never leave their database."""
    DIRECT = "direct"
    """From the source's database straight into the target's, by this process."""
    SPARK = "spark"

    @property
    def needs_engine(self) -> bool:
        """Tell whether Spark has to be there."""
        return self is Path.SPARK
