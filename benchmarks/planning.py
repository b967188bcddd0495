"""How long does `flow plan` take for a project of 500 pipelines?

The project: 500 pipelines over 100 tables of a SQLite database into 500 tables of a DuckDB
database, half of them there already, with joins, aggregates, windows and WITH in their SQL.
Whole processes are timed, start to exit. In a process of its own the time is taken apart:
loading the modules, resolving the queries, looking at the databases (the metadata queries),
and the planning itself. The goal is 2 s beyond the metadata queries.

    python benchmarks/planning.py [--pipelines 500] [--rounds 5] [--page FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

TABLES = 100
HEAD = """
from typing import Annotated
from ematix_flow import *

@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"

@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "warehouse.duckdb"
"""
ONE = '''
@ematix.table(schema="mart")
class Totals{n}:
    customer_id: Annotated[BigInt, pk()]
    country: String[2] | None
    day: Date
    spent: Numeric[12, 2] | None
    orders: BigInt
    place: BigInt

@ematix.pipeline(target=Totals{n}, mode="truncate", source_connection="app",
                 target_connection="warehouse"{after})
def totals_{n}():
    return """
    WITH recent AS (
        SELECT o.customer_id, o.day, o.amount, c.country
        FROM orders_{a} AS o JOIN customers_{b} AS c ON c.customer_id = o.customer_id
        WHERE o.day >= '2026-01-01' AND c.country IS NOT NULL
    ), summed AS (
        SELECT customer_id, country, day, sum(amount) AS spent, count(*) AS orders
        FROM recent GROUP BY customer_id, country, day
    )
    SELECT customer_id, country, day, spent, orders,
           row_number() OVER (PARTITION BY country ORDER BY spent DESC) AS place
    FROM summed WHERE orders > 1
    """
'''
APART = """
import json, sys, time
from collections import defaultdict
begin = time.perf_counter()
from ematix_flow.api import Flow
from ematix_flow.engine.metadata import MetadataReader
imported = time.perf_counter()
spent = defaultdict(float)

def timed(name):
    method = getattr(MetadataReader, name)
    def call(*args):
        start = time.perf_counter()
        try:
            return method(*args)
        finally:
            spent["metadata"] += time.perf_counter() - start
    setattr(MetadataReader, name, call)

for name in ("source", "describe", "target"):
    timed(name)
flow = Flow.open(sys.argv[1])
loaded = time.perf_counter()
flow.resolution.order()
resolved = time.perf_counter()
flow.explain_all(with_lineage=sys.argv[2] == "lineage")
done = time.perf_counter()
print(json.dumps({
    "import": imported - begin,
    "load": loaded - imported,
    "resolve": resolved - loaded,
    "metadata": spent["metadata"],
    "plan": done - resolved - spent["metadata"],
}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pipelines", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_project(Path(folder), options.pipelines)
        results = measure(Path(folder), options.rounds)
    text = page(options.pipelines, options.rounds, results)
    print(text)
    if options.page:
        options.page.write_text(text)


def make_project(folder: Path, pipelines: int) -> None:
    with closing(sqlite3.connect(folder / "app.db")) as database, database:
        for number in range(TABLES):
            database.execute(
                f"CREATE TABLE orders_{number} (customer_id BIGINT, day DATE, amount NUMERIC)"
            )
            database.execute(f"CREATE TABLE customers_{number} (customer_id BIGINT, country TEXT)")
    parts = [HEAD]
    for number in range(pipelines):
        after = f", depends_on=['totals_{number - 1}']" if number % 10 else ""
        values = {"n": number, "a": number % TABLES, "b": number * 7 % TABLES, "after": after}
        parts.append(ONE.format(**values))
    (folder / "pipelines.py").write_text("".join(parts))
    create_half(folder, pipelines)


def create_half(folder: Path, pipelines: int) -> None:
    import duckdb

    from ematix_flow.api import Flow
    from ematix_flow.plan.steps import Prepare

    flow = Flow.open(folder)
    with duckdb.connect(str(folder / "warehouse.duckdb")) as database:
        database.execute("CREATE SCHEMA mart")
    plans = flow.explain_all([f"totals_{number}" for number in range(0, pipelines, 2)])
    with duckdb.connect(str(folder / "warehouse.duckdb")) as database:
        for told in plans:
            for step in told.plan.steps:
                for statement in step.ddl if isinstance(step, Prepare) else ():
                    database.execute(statement)


def measure(folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    found: dict[str, list[dict[str, float]]] = {"text": [], "json": []}
    environ = {**os.environ, "HOME": str(folder)}
    for _ in range(rounds):
        for kind, runs in found.items():
            start = time.perf_counter()
            command = [sys.executable, "-m", "ematix_flow.cli", "plan", "--format", kind]
            subprocess.run(command, cwd=folder, env=environ, check=True, stdout=subprocess.DEVNULL)
            whole = time.perf_counter() - start
            apart = subprocess.run(
                [sys.executable, "-c", APART, str(folder), "lineage" if kind == "json" else ""],
                env=environ,
                check=True,
                capture_output=True,
                text=True,
            )
            runs.append({"whole": whole, **json.loads(apart.stdout)})
    return {
        kind: {key: statistics.median(each[key] for each in runs) for key in runs[0]}
        for kind, runs in found.items()
    }


def page(pipelines: int, rounds: int, results: dict[str, dict[str, float]]) -> str:
    columns = ("whole", "import", "load", "resolve", "metadata", "plan")
    lines = [
        "# Planning, measured",
        "",
        f"`flow plan` over a project of {pipelines} pipelines (`benchmarks/planning.py`), seconds, "
        f"medians of {rounds} rounds in turns, {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}. Goal: 2 s beyond the metadata queries.",
        "",
        f"| | {' | '.join(columns)} | without metadata |",
        f"| --- |{' ---: |' * (len(columns) + 1)}",
    ]
    for kind, each in results.items():
        cells = " | ".join(f"{each[key]:.2f}" for key in columns)
        what = "`flow plan`" if kind == "text" else "`flow plan --format json` (with lineage)"
        lines.append(f"| {what} | {cells} | {each['whole'] - each['metadata']:.2f} |")
    lines += [
        "",
        "*whole* is the process from start to exit; the other columns come from a process of their "
        "own, so they add up to a little less.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
