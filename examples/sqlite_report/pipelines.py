"""A report over an application's SQLite database: the query runs there, the report is replaced."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated

from ematix_flow import BigInt, Date, Numeric, ematix, pk


@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"


@ematix.connection
class reports:
    kind = "sqlite"
    path = "reports.db"


@ematix.table
class DailySales:
    day: Annotated[Date, pk()]
    orders: BigInt
    revenue: Numeric[18, 2]


@ematix.pipeline(
    target=DailySales, mode="truncate", source_connection=app, target_connection=reports
)
def daily_sales():
    return """
        SELECT date(placed_at) AS day, count(*) AS orders,
               printf('%.2f', sum(cents) / 100.0) AS revenue
        FROM orders
        GROUP BY 1
    """


def make_app_database(file: Path) -> None:
    """Stand in for the application: `python pipelines.py` writes its database."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, placed_at TEXT, cents INTEGER)"
        )
        database.executemany(
            "INSERT INTO orders (placed_at, cents) VALUES (?, ?)",
            [("2026-03-01 09:00", 1990), ("2026-03-01 17:30", 500), ("2026-03-02 08:15", 4250)],
        )


if __name__ == "__main__":
    make_app_database(Path("app.db"))
