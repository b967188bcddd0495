"""Functions on frames: one takes files, the next takes the table that the first one wrote."""

from typing import Annotated

from ematix_flow import BigInt, Double, Text, TimestampTZ, ematix, pk


@ematix.connection
class landing:
    kind = "csv"
    path = "data"
    schema = "trip_id BIGINT, bike STRING, metres DOUBLE, ended_at TIMESTAMP"


@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "warehouse.duckdb"


@ematix.table(schema="bikes")
class Trips:
    trip_id: Annotated[BigInt, pk()]
    bike: Text
    metres: Double
    ended_at: TimestampTZ


@ematix.table(schema="bikes")
class Mileage:
    bike: Annotated[Text, pk()]
    trips: BigInt
    metres: Double


@ematix.pipeline(
    target=Trips, mode="truncate", source_connection="landing", target_connection="warehouse"
)
def trips(src):
    """Keep the last report of each trip."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    newest = Window.partitionBy("trip_id").orderBy(f.col("ended_at").desc())
    reports = src.table("trips").withColumn("place", f.row_number().over(newest))
    return reports.where("place = 1").drop("place")


@ematix.pipeline(target=Mileage, mode="truncate", target_connection="warehouse")
def mileage(trips):
    """Sum up by bike; it runs after `trips`, because its parameter says so."""
    from pyspark.sql import functions as f

    return trips.groupBy("bike").agg(f.count("*").alias("trips"), f.sum("metres").alias("metres"))
