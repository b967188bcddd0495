"""Who reads and writes frames for `Connection.read_df` and `Connection.write_df`.

A connection knows no engine and no project. The package's own `__init__` hands in who does,
when a user first imports a connection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

from ematix_flow.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ematix_flow.connections.model.connection import Connection

FrameKind = Literal["pandas", "polars", "pyarrow", "spark"]


class FrameAccess(Protocol):
    """What moves frames into and out of a connection."""

    def read(
        self, connection: Connection, query: str, kind: FrameKind | None, session: object | None
    ) -> Any:
        """Return the rows of a query as a frame of that kind."""
        ...

    def write(
        self,
        connection: Connection,
        frame: object,
        table: object,
        keywords: Mapping[str, Any],
        session: object | None,
    ) -> Any:
        """Load a frame into a table, and return the run's record."""
        ...


_access: list[FrameAccess] = []


def use_frame_access(access: FrameAccess) -> None:
    """Let *access* move the frames."""
    _access[:] = [access]


def frame_access() -> FrameAccess:
    """Return who moves the frames."""
    if not _access:
        raise UsageError(
            "no engine is attached", hint="import from ematix_flow, not from its submodules"
        )
    return _access[0]
