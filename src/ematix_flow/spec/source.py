"""A source chosen by a pipeline's function, instead of SQL over its source_connection."""

from __future__ import annotations

from dataclasses import dataclass

from ematix_flow.errors import refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A query in a named connection.

    :param kind: The kind that the connection must have; None where any will do.
    """

    connection: str
    query: str
    kind: str | None = None

    def __post_init__(self) -> None:
        # A declared connection counts as its name, as everywhere else.
        name: object = getattr(self.connection, "name", self.connection)
        if not isinstance(name, str) or not name:
            raise refused(f"Source: connection takes a connection's name, not {name!r}")
        query: object = self.query
        if not isinstance(query, str):
            raise refused(f"Source: query takes SQL text, not {query!r}")
        object.__setattr__(self, "connection", name)

    @classmethod
    def postgres_query(cls, connection: str, query: str) -> Source:
        """Read *query* from a PostgreSQL connection."""
        return cls(connection=connection, query=query, kind="postgres")

    @classmethod
    def mysql_query(cls, connection: str, query: str) -> Source:
        """Read *query* from a MySQL or MariaDB connection."""
        return cls(connection=connection, query=query, kind="mysql")

    @classmethod
    def sqlite_query(cls, connection: str, query: str) -> Source:
        """Read *query* from a SQLite connection."""
        return cls(connection=connection, query=query, kind="sqlite")

    @classmethod
    def duckdb_query(cls, connection: str, query: str) -> Source:
        """Read *query* from a DuckDB connection."""
        return cls(connection=connection, query=query, kind="duckdb")

    @classmethod
    def snowflake_query(cls, connection: str, query: str) -> Source:
        """Read *query* from a Snowflake connection."""
        return cls(connection=connection, query=query, kind="snowflake")

    @classmethod
    def bigquery_query(cls, connection: str, query: str) -> Source:
        """Read *query* from a BigQuery connection."""
        return cls(connection=connection, query=query, kind="bigquery")

    @classmethod
    def redshift_query(cls, connection: str, query: str) -> Source:
        """Read *query* from a Redshift connection."""
        return cls(connection=connection, query=query, kind="redshift")
