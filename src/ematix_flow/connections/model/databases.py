"""Databases in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ematix_flow.connections.model.files import PathConnection


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DatabaseFileConnection(PathConnection):
    """A database in a file."""

    other_schemes: ClassVar[tuple[str, ...]] = ()

    def _check(self) -> None:
        # Drivers give that name a meaning; here it would silently become a file.
        if self.path.startswith(":memory:"):
            raise self._wrong(
                "in-memory databases come with the memory backend",
                hint=f'give a file: path = "{self.name}.db"',
            )


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
