"""The engines that the corpus runs on, each as a function from SQL to rows, in UTC."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC
from typing import Any

Row = tuple[Any, ...]
Run = Callable[[str], list[Row]]


@contextmanager
def on_duckdb() -> Iterator[Run]:
    """A DuckDB in memory."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield lambda sql: connection.execute(sql).fetchall()


@contextmanager
def on_postgres(dsn: str) -> Iterator[Run]:
    """The PostgreSQL of the test services."""
    import psycopg

    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        yield lambda sql: connection.execute(sql.encode()).fetchall()


@contextmanager
def on_datafusion() -> Iterator[Run]:
    """A DataFusion in this process."""
    import datafusion

    context = datafusion.SessionContext()

    def run(sql: str) -> list[Row]:
        table = context.sql(sql).to_arrow_table()
        # By position: two columns may have one name.
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    yield run


# Compiling each of many hundred tiny plans would take longer than running them.
_CONF = {"spark.sql.session.timeZone": "UTC", "spark.sql.codegen.wholeStage": "false"}


@contextmanager
def on_spark(session: Any) -> Iterator[Run]:
    """The session of these tests, which raises errors (ANSI) as it does by default."""
    from pyspark.sql.types import TimestampType

    assert session.conf.get("spark.sql.ansi.enabled") == "true"
    before = {key: session.conf.get(key) for key in _CONF}
    for key, value in _CONF.items():
        session.conf.set(key, value)

    def run(sql: str) -> list[Row]:
        # Not toArrow(), which starts a job even where the plan is a constant.
        frame = session.sql(sql)
        instants = [isinstance(each.dataType, TimestampType) for each in frame.schema]
        return [
            tuple(
                # pyspark gives instants in the machine's zone, without saying so.
                value.astimezone(UTC) if instant and value is not None else value
                for value, instant in zip(row, instants, strict=True)
            )
            for row in frame.collect()
        ]

    try:
        yield run
    finally:
        for key, value in before.items():
            session.conf.set(key, value)
