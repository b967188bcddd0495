"""The demo shop's own database: the same on every machine."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

_PRODUCTS = (
    ("Kettle", "kitchen", "34.50"),
    ("Teapot", "kitchen", "49.00"),
    ("Lamp", "home", "79.90"),
    ("Vase", "home", "12.90"),
    ("Notebook", "paper", "4.20"),
    ("Calendar", "paper", "18.00"),
    ("Scarf", "clothes", "24.00"),
    ("Umbrella", "clothes", "29.50"),
)
_NAMES = (
    *("Ada", "Alan", "Grace", "Katherine", "Noor", "Kurt", "Emmy", "Srinivasa", "Sofia", "Carl"),
    *("Maryam", "Leonhard", "Hedy", "Claude", "Radia", "Donald", "Barbara", "Niklaus", "Frances"),
    *("Dennis", "Karen", "John", "Margaret", "Ken", "Shafi", "Tony", "Anita", "Linus", "Lise"),
    "Max",
)
_CITIES = ("Lisbon", "Lyon", "Kyoto", "Recife", "Accra", "Quebec", None)
# Where those live whose story the demo tells.
_AT_HOME = {"Ada": "London", "Alan": "Manchester", "Grace": "New York", "Katherine": "Hampton"}
_LATER = (
    (1, "Ada", "Paris", "moved", "2026-03-12 18:00:00"),
    # It changes nothing when it comes, and must count when an earlier entry comes late.
    (4, "Katherine", "Hampton", "confirmed", "2026-03-15 12:00:00"),
    (2, "Alan", "London", "moved", "2026-03-20 09:30:00"),
)
ORDERS = 600
_SCHEMA = """
CREATE TABLE products (id INTEGER PRIMARY KEY, title TEXT, category TEXT, price DECIMAL(10, 2));
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, email TEXT, city TEXT);
CREATE TABLE customer_log (
    entry INTEGER PRIMARY KEY, customer_id BIGINT, name TEXT, city TEXT,
    what TEXT, happened_at TIMESTAMP
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id BIGINT, product_id BIGINT, quantity INTEGER,
    unit_price DECIMAL(10, 2), placed_at TIMESTAMP
);
"""


def make_shop(file: Path) -> str:
    """Write the shop's database as it is on March 30th, and say what is in it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draw = random.Random(7)  # noqa: S311  # data, not a secret
    with closing(sqlite3.connect(file)) as database, database:
        database.executescript(_SCHEMA)
        database.executemany(
            "INSERT INTO products (title, category, price) VALUES (?, ?, ?)", _PRODUCTS
        )
        _fill_customers(database, draw)
        _fill_orders(database, draw)
    return (
        f"{len(_NAMES)} customers, {len(_PRODUCTS)} products, {ORDERS} orders, "
        "and a log of who lived where"
    )


def change_shop(file: Path, changes: Path) -> None:
    """Let the day that *changes* describes happen in the shop."""
    with closing(sqlite3.connect(file)) as database, database:
        database.executescript(changes.read_text(encoding="utf-8"))


def _fill_customers(database: sqlite3.Connection, draw: random.Random) -> None:
    cities = [_AT_HOME.get(name) or draw.choice(_CITIES) for name in _NAMES]
    logged = [
        (number, name, city, "joined", f"2026-03-0{1 + number // 5} 0{number % 5}:00:00")
        for number, (name, city) in enumerate(zip(_NAMES, cities, strict=True), start=1)
    ]
    latest = {name: city for _, name, city, _, _ in (*logged, *_LATER)}
    database.executemany(
        "INSERT INTO customers VALUES (?, ?, ?, ?)",
        [
            (number, name, f"{name}@Example.com", latest[name])
            for number, name in enumerate(_NAMES, start=1)
        ],
    )
    database.executemany(
        "INSERT INTO customer_log (customer_id, name, city, what, happened_at) "
        "VALUES (?, ?, ?, ?, ?)",
        [*logged, *_LATER],
    )


def _fill_orders(database: sqlite3.Connection, draw: random.Random) -> None:
    start = datetime(2026, 3, 8)  # noqa: DTZ001  # a shop's wall clock
    times = sorted(start + timedelta(minutes=draw.randrange(60 * 24 * 23)) for _ in range(ORDERS))
    rows = []
    for placed_at in times:
        product = draw.randrange(len(_PRODUCTS))
        customer, quantity = draw.randint(1, len(_NAMES)), draw.randint(1, 3)
        price = _PRODUCTS[product][2]
        rows.append((customer, product + 1, quantity, price, placed_at.isoformat(" ")))
    database.executemany(
        "INSERT INTO orders (customer_id, product_id, quantity, unit_price, placed_at) "
        "VALUES (?, ?, ?, ?, ?)",
        rows,
    )
