"""DuckDB's dialect into Spark's."""

from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.translate import translate


def to_spark(query: str, *, where: str) -> str:
    """The translation that pipelines get."""
    parsed = parse_query(query, dialect="duckdb", where=where)
    return translate(parsed, read="duckdb", write="spark", where=where)
