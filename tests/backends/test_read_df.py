"""Reading a database into a local frame: exact values, and no Spark."""

import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import uuid4

import pytest

from ematix_flow import Connection
from ematix_flow.backends.registry import backends
from ematix_flow.declare.project import Project, declaring_into
from ematix_flow.errors import QueryError

CREATE = """
CREATE TABLE t (id BIGINT, price NUMERIC(10, 2), day DATE, seen_at {instant}, name VARCHAR(20))
"""
INSERT = """
INSERT INTO t VALUES
    (9007199254740993, {price}, '2026-02-28', '2026-01-01 00:00:00{zone}', 'ada'),
    (1, NULL, NULL, NULL, NULL)
"""
ROWS = [
    {"id": 1, "price": None, "day": None, "seen_at": None, "name": None},
    {
        "id": 2**53 + 1,
        "price": Decimal("19.90"),
        "day": date(2026, 2, 28),
        "seen_at": datetime(2026, 1, 1, tzinfo=UTC),
        "name": "ada",
    },
]


@pytest.fixture(
    params=[
        *("memory", "sqlite", "duckdb"),
        pytest.param("postgres", marks=pytest.mark.services),
        pytest.param("mysql", marks=pytest.mark.services),
    ]
)
def connection(request, tmp_path):
    """A connection of each kind to a database that has a table."""
    match request.param:
        case "postgres" | "mysql" as kind:
            config = request.getfixturevalue(f"{kind}_config")
        case "memory":
            config = {"kind": "memory", "database": uuid4().hex}
        case kind:
            config = {"kind": kind, "path": str(tmp_path / "house.db")}
    with declaring_into(Project()):
        found = Connection.from_config("house", config)
        # SQLite keeps the digits of a number only as text; MySQL has no instants to speak of.
        price = "'19.90'" if found.kind == "sqlite" else "19.90"
        instant, zone = ("DATETIME(6)", "") if found.kind == "mysql" else ("TIMESTAMPTZ", "+00:00")
        with backends()[found.kind].target(found).open() as session:
            session.execute(CREATE.format(instant=instant))
            session.execute(INSERT.format(price=price, zone=zone))
        yield found


def stored(connection):
    """The rows as that database gives them back."""
    if connection.kind != "mysql":
        return ROWS
    return [
        {**row, "seen_at": row["seen_at"] and row["seen_at"].replace(tzinfo=None)} for row in ROWS
    ]


@pytest.mark.proves("frames")
def test_every_local_frame_has_the_values_that_are_stored(connection, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    query = "SELECT id, price, day, seen_at, name FROM t ORDER BY id"
    assert connection.read_df(query, as_="pyarrow").to_pylist() == stored(connection)
    assert connection.read_df(query, as_="polars").to_dicts() == stored(connection)
    assert connection.read_df(query)["id"].tolist() == [1, 2**53 + 1]
    assert connection.read_df(query)["price"].tolist()[1] == Decimal("19.90")


def test_a_query_that_is_wrong_is_told_by_the_database(connection, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(QueryError, match="nothing_such"):
        connection.read_df("SELECT nothing_such FROM t", as_="pyarrow")


NO_SPARK = """
import sys
from ematix_flow import connect
house = connect("house", kind="sqlite", path="house.db")
print(house.read_df("SELECT 1 AS one", as_="pyarrow").to_pylist())
print([name for name in ("pyspark", "py4j", "pysail") if name in sys.modules])
"""


def test_reading_a_database_loads_no_spark(tmp_path):
    (tmp_path / "house.db").touch()
    done = subprocess.run(
        [sys.executable, "-c", NO_SPARK], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[{'one': 1}]", "[]"]
