"""A source chosen by a pipeline's function, instead of SQL over its source_connection."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A query in a named connection.

    :param kind: The kind that the connection must have; None where any will do.
    """

    connection: str
    query: str
    kind: str | None = None

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
