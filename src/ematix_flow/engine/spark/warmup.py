"""A small job that touches what most jobs touch.

It trains the class archive, and it warms a fresh server so that the first run
on it does not pay for code that was never run before.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Enough rows for the JVM to compile the loops that read and write them.
_ROWS = 20_000
_ROWWISE = """
SELECT id, upper(trim(who)) AS who, amount * 2 AS twice, date(at) AS day
FROM warmup_orders WHERE id % 2 = 0 AND who IS NOT NULL
"""
_QUERY = """
SELECT o.who, count(*) AS n, sum(o.amount) AS total, max(o.at) AS latest
FROM warmup_orders o JOIN (SELECT DISTINCT who FROM warmup_orders) w USING (who)
WHERE o.id IS NOT NULL GROUP BY o.who ORDER BY total
"""


def exercise(session: Any, directory: Path) -> None:
    """Read CSV and Parquet, query, join, pass rows through Python, write."""
    directory.mkdir(parents=True, exist_ok=True)
    lines = (f"{n},w{n % 7},{n}.50,2024-01-01 00:00:00" for n in range(_ROWS))
    (directory / "orders.csv").write_text("\n".join(("id,who,amount,at", *lines)))
    orders = (
        session.read.schema("id bigint, who string, amount decimal(10,2), at timestamp")
        .option("header", "true")
        .csv(str(directory / "orders.csv"))
    )
    orders.createOrReplaceTempView("warmup_orders")
    session.sql(_ROWWISE).write.parquet(str(directory / "rows"))
    session.read.parquet(str(directory / "rows")).count()
    session.sql(_QUERY).write.parquet(str(directory / "totals"))
    totals = session.read.parquet(str(directory / "totals"))
    totals.mapInArrow(_same, totals.schema).collect()
    session.catalog.dropTempView("warmup_orders")


def _same(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches
