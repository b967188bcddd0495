"""Parquet files as sources."""

from __future__ import annotations

from ematix_flow.backends.base import ReadOnlyBackend
from ematix_flow.ports import Reader
from ematix_flow.spec.capability import Capabilities, Capability, Support


class ParquetBackend(ReadOnlyBackend):
    """Reads Parquet files; writing them comes with the other file targets."""

    capabilities = Capabilities(
        kind="parquet",
        dialect="spark",
        extra="parquet",
        support={
            Capability.READ_RELATION: Support.FULL,
            Capability.APPEND: Support.NOT_IMPLEMENTED,
            Capability.TRUNCATE: Support.NOT_IMPLEMENTED,
        },
    )

    def reader(self, connection: object) -> Reader:
        """Return a reader over *connection*."""
        from ematix_flow.backends.impl.parquet.read import ParquetReader
        from ematix_flow.connections.model import ParquetConnection

        assert isinstance(connection, ParquetConnection)
        return ParquetReader(connection)


BACKEND = ParquetBackend()
