"""A shop's orders into a warehouse, and a report over them: what the orchestrator runs."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated

from ematix_flow import BigInt, Date, Numeric, ematix, pk


@ematix.connection
class shop:
    kind = "sqlite"
    path = "shop.db"


@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "warehouse.duckdb"


@ematix.table
class Orders:
    order_id: Annotated[BigInt, pk()]
    day: Date
    cents: BigInt


@ematix.table
class Sales:
    day: Annotated[Date, pk()]
    orders: BigInt
    revenue: Numeric[18, 2]


@ematix.pipeline(
    target=Orders, mode="truncate", source_connection=shop, target_connection=warehouse
)
def load_orders():
    return "SELECT order_id, date(placed_at) AS day, cents FROM orders"


@ematix.pipeline(
    target=Sales, mode="truncate", source_connection=warehouse, target_connection=warehouse
)
def daily_sales():
    return """
        SELECT day, count(*) AS orders, CAST(sum(cents) AS DECIMAL(18, 2)) / 100 AS revenue
        FROM orders
        GROUP BY day
    """


def make_shop(file: Path) -> None:
    """Stand in for the shop: `python pipelines.py` writes its database."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE orders (order_id INTEGER, placed_at TEXT, cents INTEGER)")
        database.executemany(
            "INSERT INTO orders VALUES (?, ?, ?)",
            [(1, "2026-03-01 09:00", 1990), (2, "2026-03-01 17:30", 510), (3, "2026-03-02", 4250)],
        )


if __name__ == "__main__":
    make_shop(Path("shop.db"))
