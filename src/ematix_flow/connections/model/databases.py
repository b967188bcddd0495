"""Databases in a file, or in the memory of this process."""

from __future__ import annotations

from dataclasses import dataclass
from os.path import realpath
from pathlib import Path
from typing import ClassVar

from ematix_flow.connections.model.files import PathConnection

IN_MEMORY = ":memory:"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DatabaseFileConnection(PathConnection):
    """A database in a file.

    The path `:memory:` is a database in memory that lives as long as the process and is known by
    the connection's name; `:memory:NAME` names it, so that several connections can share it.
    """

    other_schemes: ClassVar[tuple[str, ...]] = ()

    @property
    def in_memory(self) -> bool:
        """Whether the database is no file."""
        return self.path.startswith(IN_MEMORY)

    @property
    def location(self) -> Path:
        """The absolute path, or `:memory:NAME`; meant for a resolved connection."""
        if not self.in_memory:
            # Not super(): a class with slots is made twice, and that would mean the first.
            written = super(DatabaseFileConnection, self).location
            # Links followed: what one file is locked and known by must not depend on its spelling.
            return Path(realpath(written))
        return Path(self.path if self.path != IN_MEMORY else f"{IN_MEMORY}{self.name}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SQLiteConnection(DatabaseFileConnection):
    """A SQLite database file."""

    kind = "sqlite"
    schemes = ("sqlite",)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DuckDBConnection(DatabaseFileConnection):
    """A DuckDB database file."""

    kind = "duckdb"
    schemes = ("duckdb",)
