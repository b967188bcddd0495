"""Sensor readings: one CSV file a day, checked against declared types, averaged per sensor."""

from typing import Annotated

from ematix_flow import BigInt, Double, Text, TimestampTZ, ematix, pk


@ematix.connection
class landing:
    kind = "csv"
    path = "data"
    null_value = "n/a"


@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "warehouse.duckdb"


@ematix.table(schema="sensors")
class Readings:
    sensor: Annotated[Text, pk()]
    measured_at: Annotated[TimestampTZ, pk()]
    celsius: Double | None


@ematix.table(schema="sensors")
class Averages:
    sensor: Annotated[Text, pk()]
    readings: BigInt
    celsius: Double | None


@ematix.pipeline(
    target=Readings, mode="truncate", source_connection=landing, target_connection=warehouse
)
def load_readings():
    return "SELECT sensor, measured_at, celsius FROM readings"


@ematix.pipeline(
    target=Averages,
    mode="truncate",
    source_connection=warehouse,
    target_connection=warehouse,
    depends_on=["load_readings"],
)
def averages():
    return """
        SELECT sensor, count(*) AS readings, avg(celsius) AS celsius
        FROM sensors.readings
        GROUP BY sensor
    """
