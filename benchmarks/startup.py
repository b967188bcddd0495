"""How long does a small job take from the prompt to the prompt?

The same job each time: 20,000 orders from CSV, through a query, into a DuckDB table.
Whole processes are timed, start to exit, in turns, so that a busy moment hits all alike:

  stock      a plain pyspark script, as one would write it (Spark writes Parquet, DuckDB loads it)
  cold       `flow run`, with nothing prepared
  prepared   `flow run` after `flow engine prepare` (the class archive; a one-time step)
  warm       `flow run` while `flow engine start` is up
  sail       `flow run --engine sail`, in an environment with the `sail` extra

    python benchmarks/startup.py [--rounds 5] [--sail-python PYTHON] [--json FILE] [--page FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROWS = 20_000
STOCK = """
import duckdb, sys
from pyspark.sql import SparkSession

folder = sys.argv[1]
spark = SparkSession.builder.master("local[*]").getOrCreate()
spark.read.csv(f"{folder}/data/orders.csv", header=True).createOrReplaceTempView("orders")
query = '''SELECT CAST(order_id AS BIGINT) AS order_id, upper(customer) AS customer,
                  CAST(amount AS DECIMAL(10, 2)) AS amount
           FROM orders WHERE CAST(order_id AS BIGINT) % 2 = 0'''
spark.sql(query).write.mode("overwrite").parquet(f"{folder}/stock.parquet")
with duckdb.connect(f"{folder}/stock.duckdb") as database:
    database.execute("CREATE OR REPLACE TABLE orders AS SELECT * FROM read_parquet(?)",
                     [f"{folder}/stock.parquet/*.parquet"])
spark.stop()
"""
PROJECT = '''
from typing import Annotated
from ematix_flow import BigInt, Numeric, Text, ematix, pk

@ematix.connection
class landing:
    kind = "csv"
    path = "data"

@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "warehouse.duckdb"

@ematix.table
class Orders:
    order_id: Annotated[BigInt, pk()]
    customer: Text
    amount: Numeric[10, 2]

@ematix.pipeline(target=Orders, mode="truncate", source_connection="landing",
                 target_connection="warehouse")
def load_orders():
    return """SELECT order_id, upper(customer) AS customer, amount
              FROM orders WHERE CAST(order_id AS BIGINT) % 2 = 0"""
'''


PAGE = """# Start-up, measured

<!-- Written by benchmarks/startup.py --page; `make bench` measures again. -->

How long a small job takes from the prompt to the prompt: 20,000 orders from CSV, through a query,
into a DuckDB table. Whole processes, started in turns.

{table}

- `stock` is a plain pyspark script that does the same: Spark writes Parquet, DuckDB loads it. It
  keeps no ledger, checks no types and would leave half a table if it died.
- `cold` is `flow run` with nothing prepared; `prepared` after `flow engine prepare`; `warm` while
  `flow engine start` is up; `sail` is `flow run --engine sail`.

What it does not show: large data (there Spark's own work dominates and all but `sail` are
alike), other machines, and a busy one. Sail is ahead for small jobs; it is a younger engine, and
what it cannot do is listed in [Engines](../engines.md).

Again: `make bench`.
"""


def make_project(folder: Path) -> None:
    (folder / "data").mkdir(parents=True)
    (folder / "pipelines.py").write_text(PROJECT)
    with (folder / "data" / "orders.csv").open("w") as file:
        file.write("order_id,customer,amount\n")
        for number in range(ROWS):
            file.write(f"{number},customer{number % 97},{number % 1000 / 4:.2f}\n")


def timed(command: list[str], folder: Path, environ: dict[str, str]) -> float:
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sail-python", default=os.environ.get("SAIL_PYTHON"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path, help="write the documentation page")
    arguments = parser.parse_args()

    root = Path(tempfile.mkdtemp(prefix="ematix-startup-"))
    try:
        results = measure(root, arguments.rounds, arguments.sail_python)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    report = {
        "machine": describe_machine(),
        "rows": ROWS,
        "rounds": arguments.rounds,
        "seconds": results,
    }
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    if arguments.page:
        arguments.page.write_text(PAGE.format(table=render(report)))
    print(render(report))


def measure(root: Path, rounds: int, sail_python: str | None) -> dict[str, list[float]]:
    flow = [sys.executable, "-m", "ematix_flow.cli"]
    run = [*flow, "run", "load_orders"]
    # Two caches, so that "cold" never sees the archive that "prepared" uses.
    plain = {
        **os.environ,
        "EMATIX_FLOW_CACHE": str(root / "cache"),
        "PYSPARK_PYTHON": sys.executable,
    }
    prepared = {**plain, "EMATIX_FLOW_CACHE": str(root / "prepared")}
    folders = {name: root / name for name in ("stock", "cold", "prepared", "warm", "sail")}
    for folder in folders.values():
        make_project(folder)
    script = root / "stock.py"
    script.write_text(STOCK)

    print("preparing: class archive, warm server ...", file=sys.stderr)
    timed([*flow, "engine", "prepare"], folders["prepared"], prepared)
    timed([*flow, "engine", "start"], folders["warm"], prepared)
    stock = [sys.executable, str(script), str(folders["stock"])]
    cases: dict[str, Callable[[], float]] = {
        "stock": lambda: timed(stock, folders["stock"], plain),
        "cold": lambda: timed(run, folders["cold"], plain),
        "prepared": lambda: timed(run, folders["prepared"], prepared),
        "warm": lambda: timed(run, folders["warm"], prepared),
    }
    if sail_python:
        on_sail = [
            str(Path(sail_python).absolute()),
            "-m",
            "ematix_flow.cli",
            "run",
            "load_orders",
            "--engine",
            "sail",
        ]
        cases["sail"] = lambda: timed(on_sail, folders["sail"], plain)
    results: dict[str, list[float]] = {name: [] for name in cases}
    try:
        for number in range(rounds):
            for name, case in cases.items():
                seconds = case()
                results[name].append(round(seconds, 3))
                print(f"round {number + 1}: {name:<9} {seconds:6.2f} s", file=sys.stderr)
    finally:
        timed([*flow, "engine", "stop", "--force"], folders["warm"], prepared)
    return results


def describe_machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}"
    )


def render(report: dict[str, object]) -> str:
    seconds: dict[str, list[float]] = report["seconds"]  # type: ignore[assignment]
    median = {name: statistics.median(times) for name, times in seconds.items()}
    stock, cold = median["stock"], median["cold"]
    lines = [
        f"{report['machine']}; {report['rows']} rows; medians of {report['rounds']} rounds",
        "",
        "| run | median s | fastest | slowest | of stock | of cold |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, times in seconds.items():
        lines.append(
            f"| {name} | {median[name]:.2f} | {min(times):.2f} | {max(times):.2f} "
            f"| {median[name] / stock:.2f} | {median[name] / cold:.2f} |"
        )
    lines += [
        "",
        f"warm takes {median['warm'] / cold:.2f} of cold (goal: at most 0.25); "
        f"cold is {cold - stock:+.2f} s against stock (goal: at most +0.50)",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
