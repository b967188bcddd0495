"""Load with stock Spark and its JDBC source, tuned as its documentation recommends.

    python spark_jdbc.py append|merge [warm]

Append is Spark's own; merge is what people write by hand: append into a staging table, then one
statement in the database. With `warm`, the same session has made such a load before, and
only the second is timed: LOAD_SECONDS is the file that takes its seconds.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from pyspark.sql import DataFrame, SparkSession  # noqa: TID253  # a stock script

# The rows' names and DDL are the contest's.
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from benchmarks.loads import orders

TARGET = "mart.orders"
STAGING = "mart.orders_staging"
WARM_UP = "mart.warm_up"
BATCH = "10000"


def main() -> None:
    mode, warm = sys.argv[1], "warm" in sys.argv[2:]
    cores = os.cpu_count() or 1
    spark = session()
    if warm:
        execute("CREATE SCHEMA IF NOT EXISTS mart", orders.create(WARM_UP))
        append(read(spark, cores), WARM_UP)
        execute(f"DROP TABLE {WARM_UP}", "CHECKPOINT")
    begin = time.perf_counter()
    execute("CREATE SCHEMA IF NOT EXISTS mart", orders.create_if_missing(TARGET))
    if mode == "append":
        append(read(spark, cores), TARGET)
    else:
        merge(read(spark, cores))
    Path(os.environ["LOAD_SECONDS"]).write_text(str(time.perf_counter() - begin))
    spark.stop()


def session() -> SparkSession:
    return (
        SparkSession.builder.master("local[*]")  # noqa: TID251  # a stock script builds its own
        .config("spark.jars", os.environ["LOAD_JDBC_JAR"])
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
        .getOrCreate()
    )


def read(spark: SparkSession, cores: int) -> DataFrame:
    address, properties = jdbc(os.environ["LOAD_SOURCE"])
    rows = int(os.environ["LOAD_ROWS"])
    return spark.read.jdbc(
        address,
        orders.TABLE,
        column="id",
        lowerBound=1,
        upperBound=rows,
        numPartitions=cores,
        properties={**properties, "fetchsize": BATCH},
    )


def append(frame: DataFrame, table: str) -> None:
    address, properties = jdbc(os.environ["LOAD_TARGET"])
    # Rows of a batch in one INSERT; and text goes into uuid columns.
    address += "?reWriteBatchedInserts=true&stringtype=unspecified"
    frame.write.jdbc(address, table, mode="append", properties={**properties, "batchsize": BATCH})


def merge(frame: DataFrame) -> None:
    execute(f"DROP TABLE IF EXISTS {STAGING}", f"CREATE UNLOGGED TABLE {STAGING} (LIKE {TARGET})")
    append(frame, STAGING)
    others = [name for name in orders.NAMES if name != "id"]
    old, new = (", ".join(f"{side}.{name}" for name in others) for side in ("t", "excluded"))
    changes = ", ".join(f"{name} = excluded.{name}" for name in others)
    execute(
        f"INSERT INTO {TARGET} AS t SELECT * FROM {STAGING} ON CONFLICT (id) "
        f"DO UPDATE SET {changes} WHERE ({old}) IS DISTINCT FROM ({new})",
        f"DROP TABLE {STAGING}",
    )


def execute(*statements: str) -> None:
    with psycopg.connect(os.environ["LOAD_TARGET"], autocommit=True) as database:
        for statement in statements:
            database.execute(statement)


def jdbc(dsn: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(dsn)
    properties = {
        "user": parts.username or "",
        "password": parts.password or "",
        "driver": "org.postgresql.Driver",
    }
    return f"jdbc:postgresql://{parts.hostname}:{parts.port}{parts.path}", properties


if __name__ == "__main__":
    main()
