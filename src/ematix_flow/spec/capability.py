"""What a backend can do, as data, so that a bad pair fails in `plan`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class Capability(StrEnum):
    """Something a backend may be asked for."""

    READ_RELATION = "read_relation"
    """Read a named file or table as Spark rows; the query runs on Spark."""
    READ_QUERY = "read_query"
    """Run the query in the source itself and read its result."""
    APPEND = "append"
    TRUNCATE = "truncate"
    MERGE = "merge"
    SCD1 = "scd1"
    SCD2 = "scd2"


class Support(StrEnum):
    """How far a backend supports a capability."""

    FULL = "full"
    NOT_IMPLEMENTED = "not_implemented"
    """Ours to do, not done yet."""
    UNSUPPORTED = "unsupported"
    """The system itself cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one kind of backend supports, and what it needs.

    :param dialect: The SQL it speaks, where queries run in it.
    :param extra: The extra that installs its driver.
    :param drivers: The modules of Python that every use of it imports.
    :param connectors: Names in the jar lock that Spark needs for it.
    """

    kind: str
    dialect: str
    extra: str
    drivers: tuple[str, ...] = ()
    connectors: tuple[str, ...] = ()
    support: Mapping[Capability, Support] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "support", MappingProxyType(dict(self.support)))

    def __getitem__(self, capability: Capability) -> Support:
        return self.support.get(capability, Support.UNSUPPORTED)

    def has(self, capability: Capability) -> bool:
        """Tell whether *capability* can be used today."""
        return self[capability] is Support.FULL
