"""Meter readings, read once as they come; and a part of the past, loaded again.

    python pipelines.py            # writes readings of January and February
    flow run readings              # loads them; run again, it finds nothing new
    python pipelines.py correct    # January is corrected and completed, behind the watermark
    flow backfill readings --from 2026-01-01 --to 2026-02-01 --chunk 7d

The backfill reads January alone, a week per commit. It can be stopped and started again, and the
next `flow run readings` goes on where the last one ended.
"""

import sqlite3
import sys
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated

from ematix_flow import Date, Integer, Text, ematix, pk


@ematix.connection
class meters:
    kind = "sqlite"
    path = "meters.db"


@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "warehouse.duckdb"


@ematix.table
class Readings:
    meter: Annotated[Text, pk()]
    day: Annotated[Date, pk()]
    litres: Integer


@ematix.pipeline(
    target=Readings,
    mode="merge",
    incremental_column="day",
    source_connection=meters,
    target_connection=warehouse,
)
def readings():
    return "SELECT meter, day, litres FROM readings"


def write_readings(file: Path) -> None:
    """Stand in for the meters: a reading each day, but for one that was silent in January."""
    days = [date(2026, 1, 1) + timedelta(days=passed) for passed in range(59)]
    rows = [("north", str(day), 10) for day in days]
    rows += [("south", str(day), 20) for day in days if day.month > 1]
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE readings (meter TEXT, day DATE, litres INTEGER)")
        database.executemany("INSERT INTO readings VALUES (?, ?, ?)", rows)


def correct_january(file: Path) -> None:
    """Let one reading be corrected, and those of the silent meter arrive."""
    days = [date(2026, 1, 1) + timedelta(days=passed) for passed in range(31)]
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(
            "UPDATE readings SET litres = 12 WHERE meter = 'north' AND day = '2026-01-20'"
        )
        database.executemany(
            "INSERT INTO readings VALUES ('south', ?, 20)", [(str(day),) for day in days]
        )


if __name__ == "__main__":
    action = correct_january if sys.argv[1:] == ["correct"] else write_readings
    action(Path("meters.db"))
