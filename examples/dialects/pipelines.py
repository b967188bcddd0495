"""DuckDB's SQL over CSV files: it runs on Spark, and means there what it means in DuckDB."""

from typing import Annotated

from ematix_flow import BigInt, Date, Text, ematix, pk


@ematix.connection
class landing:
    kind = "csv"
    path = "data"
    schema = "day DATE, city STRING, rain BIGINT"


@ematix.connection
class reports:
    kind = "sqlite"
    path = "reports.db"


@ematix.table
class WettestDay:
    city: Annotated[Text, pk()]
    day: Date
    rain: BigInt
    half: BigInt


@ematix.pipeline(
    target=WettestDay,
    mode="truncate",
    source_connection="landing",
    target_connection="reports",
    dialect="duckdb",
)
def wettest_days():
    return """
        SELECT city, day, rain, CAST(rain AS BIGINT) // 2 AS half
        FROM rainfall
        QUALIFY row_number() OVER (PARTITION BY city ORDER BY rain DESC, day) = 1
    """
