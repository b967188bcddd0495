"""Every mode, from every source into every database, through the engine: two days of a shop."""

from __future__ import annotations

import pytest

from ematix_flow.api import Flow
from tests.backends.conftest import DATABASES
from tests.backends.places import Places
from tests.services.mysql_family import connect as mysql_client
from tests.services.postgres import client

PROJECT = """
@ematix.table
class Log:
    id: BigInt
    name: Text
    city: Text | None

@ematix.table
class Mirror:
    id: Annotated[BigInt, pk()]
    name: Text
    city: Text | None

@ematix.table
class Kept:
    id: Annotated[BigInt, pk()]
    name: Text
    city: Text | None

@ematix.table
class Latest:
    id: Annotated[BigInt, pk()]
    name: Text
    city: Text | None

@ematix.table
class History:
    id: Annotated[BigInt, pk()]
    name: Text
    city: Text | None
    happened: TimestampTZ

IN, OUT = "src", "out"
BOTH = dict(source_connection=IN, target_connection=OUT)

@ematix.pipeline(target=Log, mode="append", **BOTH)
def log():
    return "SELECT id, name, city FROM people"

@ematix.pipeline(target=Mirror, mode="truncate", **BOTH)
def mirror():
    return "SELECT id, name, city FROM people"

@ematix.pipeline(target=Kept, mode="scd1", handle_deletes="soft", **BOTH)
def kept():
    return "SELECT id, name, city FROM people"

@ematix.pipeline(
    target=Latest, mode="merge", sequence_by="seq", apply_as_deletes="op = 'D'", **BOTH
)
def latest():
    return "SELECT id, name, city, seq, op FROM changes"

@ematix.pipeline(
    target=History,
    mode="scd2",
    event_timestamp_column="happened",
    apply_as_deletes="op = 'D'",
    **BOTH,
)
def history():
    return "SELECT id, name, city, happened, op FROM changes"
"""
MODES = ("log", "mirror", "kept", "latest", "history")

PEOPLE = ("id", "name", "city")
CHANGES = ("id", "name", "city", "seq", "happened", "op")


def on(day: int) -> str:
    return f"2026-03-{day:02} 00:00:00+00:00"


DAYS = (
    {
        "people": [(1, "ada", "London"), (2, "alan", None), (3, "grace", "NYC")],
        "changes": [
            (1, "ada", "London", 1, on(1), "I"),
            (2, "alan", None, 1, on(1), "I"),
            (3, "grace", "NYC", 3, on(3), "I"),
        ],
    },
    {
        "people": [(1, "ada", "london"), (2, "alan", None), (4, "edsger", "Austin")],
        "changes": [
            (1, "ada", "london", 2, on(2), "U"),
            (2, "alan", None, 2, on(2), "U"),
            (3, "Grace", "DC", 2, on(2), "I"),  # late: it was in Washington before
            (3, None, None, 4, on(4), "D"),
            (3, None, None, 4, on(4), "D"),
            (4, "edsger", "Austin", 1, on(1), "I"),
        ],
    },
)


def write_source(places: Places, kind: str, tables: dict[str, list[tuple]]) -> None:
    """Replace the source's tables."""
    for table, rows in tables.items():
        names = PEOPLE if table == "people" else CHANGES
        if kind == "csv":
            shown = [["" if value is None else str(value) for value in row] for row in rows]
            lines = [",".join(names), *(",".join(row) for row in shown)]
            places.project.write(f"data/{table}.csv", "\n".join(lines) + "\n")
        elif kind == "parquet":
            import pyarrow as pa
            import pyarrow.parquet as pq

            (places.project.path / "data").mkdir(exist_ok=True)
            columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
            pq.write_table(pa.table(columns), places.project.path / "data" / f"{table}.parquet")
        else:
            run_sql(places, kind, statements(table, names, rows))


def statements(table: str, names: tuple[str, ...], rows: list[tuple]) -> list[str]:
    kinds = {"id": "BIGINT", "seq": "BIGINT"}
    columns = ", ".join(f"{name} {kinds.get(name, 'VARCHAR(40)')}" for name in names)
    literals = [
        ", ".join("NULL" if v is None else str(v) if isinstance(v, int) else f"'{v}'" for v in row)
        for row in rows
    ]
    return [
        f"DROP TABLE IF EXISTS {table}",
        f"CREATE TABLE {table} ({columns})",
        f"INSERT INTO {table} VALUES {', '.join(f'({each})' for each in literals)}",
    ]


def run_sql(places: Places, kind: str, sql: list[str]) -> None:
    match kind:
        case "sqlite":
            places.project.sqlite("src.db", *sql)
        case "duckdb":
            import duckdb

            with duckdb.connect(str(places.project.path / "src.db")) as database:
                for each in sql:
                    database.execute(each)
        case "postgres":
            with client().connect(places.database("src", kind).dsn) as database:
                for each in sql:
                    database.execute(each)
        case "mysql":
            found = places.database("src", kind)
            with mysql_client(found.server, database=found.name) as database:
                cursor = database.cursor()
                for each in sql:
                    cursor.execute(each)
                database.commit()


@pytest.fixture(params=DATABASES)
def into(request):
    return request.param


@pytest.fixture
def flow(places: Places, source_kind, into) -> Flow:
    project = PROJECT
    if source_kind == "csv":  # its numbers are text, which would order them wrongly
        project = project.replace("city, seq, op", "city, CAST(seq AS BIGINT) AS seq, op")
    places.project.declare(
        places.declare("src", source_kind) + places.declare("out", into) + project
    )
    return places.project.flow(environ=places.environ())


@pytest.mark.proves(
    "merge-changes",
    "exact-counts",
    "merge-idempotent",
    "soft-deletes",
    "apply-as-deletes",
    "late-spliced",
)
def test_two_days(places: Places, source_kind, flow: Flow) -> None:
    done = []
    for day in DAYS:
        write_source(places, source_kind, day)
        done.append({name: flow.run(name).rows for name in MODES})

    def rows(query: str) -> list[tuple]:
        return [tuple(row) for row in places.rows("out", query)]

    first, second = DAYS[0]["people"], DAYS[1]["people"]
    assert rows("SELECT id, name, city FROM log ORDER BY _batch_id, id") == [*first, *second]
    assert rows("SELECT id, name, city FROM mirror ORDER BY id") == second

    assert rows("SELECT id, city FROM kept WHERE NOT _is_deleted ORDER BY id") == [
        (1, "london"),
        (2, None),
        (4, "Austin"),
    ]
    assert rows("SELECT id FROM kept WHERE _is_deleted") == [(3,)]
    counted = done[1]["kept"]
    assert (counted.inserted, counted.updated, counted.unchanged, counted.deleted) == (1, 1, 1, 1)

    assert rows("SELECT id, name, city FROM latest ORDER BY id") == second
    assert done[1]["latest"].deleted == 1

    shown = rows("SELECT id, name, city, is_current FROM history ORDER BY id, valid_from")
    assert [(*row[:3], bool(row[3])) for row in shown] == [
        (1, "ada", "London", False),
        (1, "ada", "london", True),
        (2, "alan", None, True),
        (3, "Grace", "DC", False),
        (3, "grace", "NYC", False),
        (4, "edsger", "Austin", True),
    ]

    again = flow.run("kept").rows
    assert (again.unchanged, again.inserted, again.updated, again.deleted) == (3, 0, 0, 0)
