"""Planning looks and changes nothing: a real PostgreSQL is the same before and after.

The rows of its catalogs are compared, and how many were ever written, so that even a change that
was taken back would show. Neither Spark nor Java is touched: both are replaced by ones
that leave a mark.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.projects import ProjectFolder
from tests.services.namespace import Database
from tests.services.polling import until
from tests.services.postgres import client

pytestmark = pytest.mark.services

PROJECT = """
@ematix.connection
class shop:
    kind = "postgres"
    host = "{host}"
    port = {port}
    database = "{database}"
    user = "{user}"
    password = "${{SHOP_PASSWORD}}"

@ematix.table(schema="mart")
class Orders:
    order_id: Annotated[BigInt, pk()]
    customer: String[8]
    amount: Numeric[10, 2] | None

@ematix.pipeline(target=Orders, mode="{mode}", source_connection="shop", target_connection="shop")
def load_orders():
    return "SELECT order_id, customer, {amount} FROM raw.orders"
"""
SOURCE = (
    "CREATE SCHEMA raw",
    "CREATE TABLE raw.orders (order_id bigint PRIMARY KEY, customer varchar(8) NOT NULL, "
    "amount numeric(10,2))",
    "INSERT INTO raw.orders SELECT g, 'c' || g, g FROM generate_series(1, 100) g",
)
TARGET = "CREATE TABLE mart.orders (order_id bigint PRIMARY KEY, customer varchar(8) NOT NULL{})"
TARGETS: dict[str, tuple[str, ...]] = {
    "absent": (),
    "present": (
        "CREATE SCHEMA mart",
        TARGET.format(", amount numeric(10,2)"),
        "INSERT INTO mart.orders VALUES (1, 'old', 1)",
    ),
    "drifted": (
        "CREATE SCHEMA mart",
        TARGET.format(", extra text"),
        "INSERT INTO mart.orders VALUES (1, 'old', 'kept')",
    ),
}
COMMANDS = (
    ("plan",),
    ("plan", "--format", "json"),
    ("explain", "load_orders"),
    ("validate",),
)

# What the server keeps per relation changes with autovacuum, which runs when it likes.
CATALOGS = {
    "pg_class": "oid, relname, relnamespace, relkind, relfilenode, relnatts, relacl",
    "pg_attribute": "attrelid, attname, atttypid, atttypmod, attnum, attnotnull, attisdropped",
    **dict.fromkeys(
        (
            *("pg_namespace", "pg_proc", "pg_type", "pg_index", "pg_constraint", "pg_attrdef"),
            *("pg_depend", "pg_trigger", "pg_rewrite", "pg_sequence", "pg_extension"),
        ),
        "*",
    ),
}
# Rows read of the user's tables; and rows written, of the catalogs too, but for those that all
# databases of the server share and those that autovacuum fills.
READ = "SELECT schemaname, relname, seq_tup_read, idx_tup_fetch FROM pg_stat_user_tables"
WRITTEN = """
SELECT s.schemaname, s.relname, s.n_tup_ins, s.n_tup_upd, s.n_tup_del
FROM pg_stat_all_tables s JOIN pg_class c ON c.oid = s.relid
WHERE NOT c.relisshared AND s.relname NOT LIKE 'pg_statistic%'
"""


@dataclass(frozen=True)
class Shop:
    """The database under the project, looked at with a driver that is not ours."""

    database: Database
    connection: Any

    def everything(self) -> dict[str, list[tuple[object, ...]]]:
        """The catalogs, the rows of the user's tables, and how often rows were touched."""
        self.wait_until_alone()
        found = {
            name: self.rows(f"SELECT xmin::text, {columns} FROM pg_catalog.{name}")
            for name, columns in CATALOGS.items()
        }
        found |= {"read": self.rows(READ), "written": self.rows(WRITTEN)}
        tables = self.rows("SELECT schemaname, relname FROM pg_stat_user_tables ORDER BY 1, 2")
        for schema, table in tables:
            found[f"{schema}.{table}"] = self.rows(
                f'SELECT xmin::text, * FROM "{schema}"."{table}"'
            )
        return found

    def wait_until_alone(self) -> None:
        """A client's counts are there when its server process has ended."""
        others = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        assert until(lambda: self.rows(others) == [(0,)], seconds=10)

    def rows(self, query: str) -> list[tuple[object, ...]]:
        # In any order: a table that is only read may still be read in another.
        return sorted(self.connection.execute(query).fetchall(), key=repr)

    def execute(self, *statements: str) -> None:
        for statement in statements:
            self.connection.execute(statement)


@pytest.fixture
def shop(postgres_database):
    # What we read and write ourselves is not counted.
    with client().connect(postgres_database.dsn, autocommit=True) as connection:
        connection.execute("SET track_counts = off")
        shop = Shop(postgres_database, connection)
        shop.execute(*SOURCE)
        yield shop


@pytest.fixture
def tripwires(tmp_path) -> Mapping[str, str]:
    """An environment in which importing pyspark or starting Java leaves a file `touched`."""
    folder = tmp_path / "tripwires"
    (folder / "pyspark").mkdir(parents=True)
    touched = folder / "touched"
    (folder / "pyspark" / "__init__.py").write_text(
        f"open({str(touched)!r}, 'a').write('pyspark\\n')\nraise ImportError('a tripwire')\n"
    )
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho java >> '{touched}'\nexit 1\n")
    java.chmod(0o755)
    return {
        "PYTHONPATH": str(folder),
        "PATH": f"{java.parent}{os.pathsep}{os.environ['PATH']}",
        "JAVA_HOME": str(folder),
        "TOUCHED": str(touched),
    }


def declared(
    project: ProjectFolder, shop: Shop, *, mode: str = "append", amount: str = "amount"
) -> dict[str, str]:
    server = shop.database.server
    text = PROJECT.format(
        host=server.host,
        port=server.port,
        database=shop.database.name,
        user=server.facts["user"],
        mode=mode,
        amount=amount,
    )
    project.declare(text)
    return {"SHOP_PASSWORD": server.facts["password"]}


@pytest.mark.proves("plan-pure", "light-imports", "validate-analyses", "no-secret")
@pytest.mark.parametrize("target", TARGETS)
def test_looking_leaves_the_database_as_it_was(project, shop, tripwires, target):
    shop.execute(*TARGETS[target])
    env = {**declared(project, shop), **tripwires}
    before = shop.everything()
    for command in COMMANDS:
        done = project.cli(*command, env=env)
        refused = target == "drifted"
        assert (done.returncode != 0) == refused, (command, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        if refused:
            assert "amount" in done.stdout + done.stderr
        after = shop.everything()
        assert after == before, (command, difference(before, after))
        assert not Path(env["TOUCHED"]).exists(), (command, Path(env["TOUCHED"]).read_text())
        assert env["SHOP_PASSWORD"] not in done.stdout + done.stderr


@pytest.mark.proves("plan-pure")
def test_the_same_plan_is_the_same_bytes(project, shop):
    shop.execute(*TARGETS["present"])
    env = declared(project, shop, mode="truncate")
    for command in (("plan", "--format", "json"), ("explain", "load_orders")):
        first, second = (project.cli(*command, env=env) for _ in range(2))
        assert first.returncode == 0, first.stderr
        assert first.stdout == second.stdout, command
    assert not list(project.path.rglob("runs.jsonl"))


@pytest.mark.proves("validate-analyses")
def test_what_the_source_refuses_is_known_before_anything_starts(project, shop, tripwires):
    env = {**declared(project, shop, amount="amuont AS amount"), **tripwires}
    before = shop.everything()
    done = project.cli("validate", env=env)
    assert done.returncode not in (0, 2)
    assert 'column "amuont" does not exist' in done.stdout + done.stderr
    assert "pipelines.py" in done.stdout + done.stderr
    assert shop.everything() == before
    assert not Path(env["TOUCHED"]).exists()


def test_the_comparison_sees_a_change_that_was_taken_back(shop):
    before = shop.everything()
    with client().connect(shop.database.dsn) as connection:
        connection.execute("CREATE TEMP TABLE t (id int)")
    looked = shop.everything()
    assert "written" in difference(before, looked)
    with client().connect(shop.database.dsn) as connection:
        connection.execute("SELECT count(*) FROM raw.orders")
    assert difference(looked, shop.everything()) == ["read"]


def difference(before: dict[str, list[object]], after: dict[str, list[object]]) -> list[str]:
    return sorted(name for name in before.keys() | after if before.get(name) != after.get(name))
