"""CSV files as sources."""

from __future__ import annotations

from ematix_flow.backends.file_reader import FileBackend
from ematix_flow.backends.support import FILE_SUPPORT
from ematix_flow.ports import Reader
from ematix_flow.spec.capability import Capabilities


class CsvBackend(FileBackend):
    """Reads CSV files; writing them comes with the other file targets."""

    capabilities = Capabilities(kind="csv", dialect="spark", extra="csv", support=FILE_SUPPORT)

    def reader(self, connection: object) -> Reader:
        """Return a reader over *connection*."""
        from ematix_flow.backends.impl.csv.read import CsvReader
        from ematix_flow.connections.model import CsvConnection

        assert isinstance(connection, CsvConnection)
        return CsvReader(connection)


BACKEND = CsvBackend()
