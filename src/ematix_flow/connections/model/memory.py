"""Tables in memory, for tests."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.connections.model.address import Address
from ematix_flow.connections.model.connection import Connection
from ematix_flow.connections.model.property import prop


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MemoryConnection(Connection):
    """Tables that live as long as the process."""

    kind = "memory"
    schemes = ("memory",)

    database: str = prop("memory", "Connections that name the same one share their tables")

    @classmethod
    def _from_text(cls, url: str) -> dict[str, str] | None:
        return {} if url == ":memory:" else None

    @classmethod
    def _from_address(cls, address: Address) -> dict[str, str]:
        return {"database": address.host or address.path}
