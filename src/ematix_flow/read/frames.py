"""The `src` of a function that works on frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ematix_flow.ports import Reader
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.identifiers import table, view
from ematix_flow.sqltext.references import table_references

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFrames:
    """A source whose tables and queries become frames when they are asked for.

    :param kind: What the connection is, for a function that serves several.
    :param dialect: The SQL that the source runs itself; None where Spark runs it.
    :param run: Runs a query in the source.
    """

    connection: str
    kind: str
    dialect: str | None
    reader: Reader
    spark: SparkSession
    run: Callable[[str], DataFrame]

    def table(self, name: str) -> DataFrame:
        """Return a table or file as rows."""
        if self.dialect is None:
            return self.reader.read_relation(self.spark, name)
        schema, _, bare = name.rpartition(".")
        whole = exp.select("*").from_(table(TableName(name=bare, schema=schema or None)))
        return self.query(whole.sql(dialect=self.dialect))

    def query(self, sql: str) -> DataFrame:
        """Run *sql* in the source, or on Spark over the files that it names; return its rows."""
        if self.dialect is None:
            where = f"src.query of {self.connection}"
            for each in table_references(parse_query(sql, dialect="spark", where=where)):
                self.table(str(each)).createOrReplaceTempView(view(each.name))
            return self.spark.sql(sql)
        return self.run(sql)
