"""Projects for tests: written to disk like a user's, loaded like a user's."""

from __future__ import annotations

import csv
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from textwrap import dedent

from ematix_flow.api import Flow

HEAD = """
from typing import Annotated
from ematix_flow import *
"""

ORDERS = """
@ematix.connection
class landing:
    kind = "csv"
    path = "data"

@ematix.connection
class out:
    kind = "{kind}"
    path = "out.db"

@ematix.table
class Orders:
    order_id: Annotated[BigInt, pk()]
    customer: String[8]
    amount: Numeric[10, 2] | None

@ematix.pipeline(target=Orders, mode="{mode}", source_connection="landing", target_connection="out")
def load_orders():
    return "SELECT order_id, customer, amount FROM orders"
"""
ORDER_ROWS = (("1", "ada", "19.90"), ("2", "grace", "5.00"), ("3", "alan", ""))


class ProjectFolder:
    """A project in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, text: str) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
        return file

    def declare(self, text: str, name: str = "pipelines.py") -> Path:
        return self.write(name, HEAD + dedent(text))

    def with_orders(
        self,
        kind: str = "sqlite",
        mode: str = "append",
        rows: Sequence[Sequence[str]] = ORDER_ROWS,
    ) -> ProjectFolder:
        """The smallest real pipeline: orders from CSV into a database."""
        self.declare(ORDERS.format(kind=kind, mode=mode))
        self.csv("orders", ("order_id", "customer", "amount"), rows)
        return self

    def csv(self, name: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
        file = self.path / "data" / f"{name}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", newline="", encoding="utf-8") as opened:
            writer = csv.writer(opened)
            writer.writerow(header)
            writer.writerows(rows)
        return file

    def sqlite(self, name: str, *statements: str) -> Path:
        file = self.path / name
        with closing(sqlite3.connect(file)) as database, database:
            for statement in statements:
                database.execute(statement)
        return file

    def flow(self, **options: object) -> Flow:
        kept = ("PATH", "EMATIX_FLOW_ENGINE", "EMATIX_FLOW_DIRECT_UP_TO")
        environ = {name: os.environ[name] for name in kept if name in os.environ}
        environ["HOME"] = str(self.path / "home")
        return Flow.open(self.path, **{"environ": environ, **options})

    def rows(self, database: str, query: str) -> list[tuple[object, ...]]:
        """What a database of the project holds, asked with its own driver."""
        file = self.path / database
        if file.read_bytes()[:6] == b"SQLite":
            with closing(sqlite3.connect(file)) as opened:
                return opened.execute(query).fetchall()
        import duckdb

        with duckdb.connect(str(file), read_only=True) as opened:
            opened.execute("SET TimeZone = 'UTC'")
            return [tuple(row.values()) for row in opened.sql(query).to_arrow_table().to_pylist()]

    def cli(
        self, *arguments: str, env: Mapping[str, str] | None = None, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """`flow ...` as a user runs it: its own process, in the project's folder."""
        return subprocess.run(
            [sys.executable, "-m", "ematix_flow.cli", *arguments],
            cwd=self.path,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def json(self, *arguments: str, **options: object) -> dict[str, object]:
        done = self.cli(*arguments, "--format", "json", **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
