"""Parquet files as sources."""

from __future__ import annotations

from ematix_flow.backends.file_reader import FileBackend
from ematix_flow.backends.support import FILE_SUPPORT
from ematix_flow.ports import Reader
from ematix_flow.spec.capability import Capabilities


class ParquetBackend(FileBackend):
    """Reads Parquet files; writing them comes with the other file targets."""

    capabilities = Capabilities(
        kind="parquet", dialect="spark", extra="parquet", support=FILE_SUPPORT
    )

    def reader(self, connection: object) -> Reader:
        """Return a reader over *connection*."""
        from ematix_flow.backends.impl.parquet.read import ParquetReader
        from ematix_flow.connections.model import ParquetConnection

        assert isinstance(connection, ParquetConnection)
        return ParquetReader(connection)


BACKEND = ParquetBackend()
