"""Frames of connections: `read_df` and `write_df`, as the loads and reads that they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ematix_flow._base.location import caller_location
from ematix_flow.connections.frames import FrameKind
from ematix_flow.connections.model import Connection
from ematix_flow.declare.arrow_frames import library_of
from ematix_flow.declare.single_load import load, read
from ematix_flow.errors import DeclarationError


class DeclaredFrameAccess:
    """Moves frames by the same steps as a declared pipeline."""

    def read(
        self, connection: Connection, query: str, kind: FrameKind | None, session: object | None
    ) -> Any:
        """Return the rows of a query as a frame of that kind."""
        return read(connection, query, kind, session)

    def write(
        self,
        connection: Connection,
        frame: object,
        table: object,
        keywords: Mapping[str, Any],
        session: object | None,
    ) -> Any:
        """Load a frame into a table as a run of its own."""
        if library_of(frame) is None:
            raise DeclarationError(
                f"write_df takes a Spark, pandas, polars or pyarrow frame, "
                f"not {type(frame).__name__}",
                where=caller_location(),
            )
        given = {**keywords, "target": table, "target_connection": connection}
        return load(frame, given, called="write_df", new=True, session=session)
