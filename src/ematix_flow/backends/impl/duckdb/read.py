"""Reading DuckDB: it runs the query and exports the result to Parquet for Spark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow.backends.files import FoundFiles
from ematix_flow.backends.impl.duckdb.database import opened, size_of
from ematix_flow.backends.impl.duckdb.types import export_query, lost_value
from ematix_flow.backends.tables import missing_table
from ematix_flow.errors import NotSupported, SourceError, TargetBusy
from ematix_flow.ports import ActualColumn, SourceFacts
from ematix_flow.sqltext.identifiers import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class DuckdbReader:
    """A DuckDB database as a source."""

    path: Path

    def inspect(self, relation: str | None) -> SourceFacts:
        """Look at the file, and at the columns of a table or view in it."""
        columns = None
        try:
            with opened(self.path, read_only=True, failure=SourceError, patience=0) as database:
                if relation is not None:
                    columns = _table_columns(database, relation, self.path)
        except TargetBusy:
            # Whoever holds it found a database there; the run will wait for them.
            pass
        size = size_of(self.path, SourceError)
        shown = "in memory" if size is None else f"{size:,} bytes"
        return SourceFacts(
            description=f"{self.path.name}, {shown}", size_bytes=size, columns=columns
        )

    def describe(self, query: str) -> tuple[ActualColumn, ...]:
        """Have DuckDB analyse *query*."""
        with opened(self.path, read_only=True, failure=SourceError) as database:
            described = database.sql(query)
            return tuple(
                ActualColumn(name=name, type=str(kind), nullable=True)
                for name, kind in zip(described.columns, described.types, strict=True)
            )

    def read_relation(self, spark: SparkSession, relation: str) -> DataFrame:
        """Refuse: a database runs the whole query itself."""
        del spark, relation
        raise NotSupported("duckdb runs the whole query itself")

    def read_query(self, spark: SparkSession, query: str, scratch: Path) -> DataFrame:
        """Run *query*, export its result, and let the database go before Spark works."""
        spool = self.spool(query, scratch)
        return spark.read.parquet(*FoundFiles(path=spool, files=(spool,)).paths(spark))

    def spool(self, query: str, scratch: Path) -> Path:
        """Run *query* and return its rows as a Parquet file."""
        spool = scratch / "source.parquet"
        spool.parent.mkdir(parents=True, exist_ok=True)
        with opened(self.path, read_only=True, failure=SourceError) as database:
            _export(database, query, spool)
        return spool


def _table_columns(
    database: DuckDBPyConnection, relation: str, path: Path
) -> tuple[ActualColumn, ...]:
    import duckdb

    # DuckDB's names know no case, and a quoted one may have dots in it.
    named = database.execute(
        "SELECT schema_name, table_name FROM (SELECT schema_name, table_name FROM duckdb_tables() "
        "UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal) "
        "WHERE lower($1) IN (lower(table_name), lower(schema_name || '.' || table_name)) "
        "ORDER BY lower($1) = lower(table_name) DESC, schema_name != 'main' LIMIT 1",
        (relation,),
    ).fetchone()
    # What is no table may yet be something DuckDB reads by its name, such as a file.
    wanted = ".".join(quoted(part, "duckdb") for part in named or (relation,))
    try:
        rows = database.execute(f"DESCRIBE {wanted}").fetchall()
    except duckdb.CatalogException as error:
        known = database.execute(
            "SELECT table_name FROM duckdb_tables() UNION "
            "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1"
        )
        names = [name for (name,) in known.fetchall()]
        raise missing_table(relation, path.name, names) from error
    return tuple(
        ActualColumn(name=name, type=kind, nullable=null == "YES", primary_key=key == "PRI")
        for name, kind, null, key, *_ in rows
    )


def _export(database: DuckDBPyConnection, query: str, spool: Path) -> None:
    import duckdb

    described = database.sql(query)
    exact = export_query(query, described.columns, described.types)
    try:
        database.sql(exact).write_parquet(str(spool), compression="zstd")
    except duckdb.InvalidInputException as error:
        if (lost := lost_value(str(error))) is None:
            raise
        raise lost from error
