"""The demo shop's data: the same on every machine."""

from __future__ import annotations

import csv
import random
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

_COUNTRIES = ("DE", "FR", "US", "JP", "BR", None)
_TITLES = ("Kettle", "Lamp", "Notebook", "Scarf", "Teapot", "Umbrella", "Vase", "Whistle")
CUSTOMERS, ORDERS = 200, 5_000


def make_shop_data(folder: Path) -> None:
    """Write the shop's database, its product files and its orders."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(7)  # noqa: S311  # data, not a secret
    _customers(folder / "app.db", draw)
    _products(folder / "products.parquet", draw)
    _orders(folder / "orders.csv", draw)


def _customers(file: Path, draw: random.Random) -> None:
    rows = [
        (number, f"  Customer{number}@Example.com ", draw.choice(_COUNTRIES))
        for number in range(1, CUSTOMERS + 1)
    ]
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT, country TEXT)"
        )
        database.executemany("INSERT INTO customers VALUES (?, ?, ?)", rows)


def _products(file: Path, draw: random.Random) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    prices = [Decimal(draw.randrange(250, 9_000)) / 100 for _ in _TITLES]
    table = pa.table(
        {
            "product_id": pa.array(range(1, len(_TITLES) + 1), pa.int64()),
            "title": list(_TITLES),
            "price": pa.array(prices, pa.decimal128(10, 2)),
        }
    )
    pq.write_table(table, file)


def _orders(file: Path, draw: random.Random) -> None:
    start = datetime(2026, 1, 1)  # noqa: DTZ001  # a shop's wall clock
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow(["order_id", "customer_id", "product_id", "quantity", "placed_at"])
        for number in range(1, ORDERS + 1):
            placed = start + timedelta(minutes=draw.randrange(60 * 24 * 90))
            customer, product = draw.randint(1, CUSTOMERS), draw.randint(1, len(_TITLES))
            writer.writerow([number, customer, product, draw.randint(1, 5), placed.isoformat(" ")])
