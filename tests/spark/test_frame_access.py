"""Frames into and out of connections, by the steps of any other run."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated
from uuid import uuid4

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ematix_flow import BigInt, Numeric, String, Text, connect, ematix, pipeline, pk
from ematix_flow.backends.registry import backends
from ematix_flow.declare.project import Project, declaring_into
from ematix_flow.errors import ContractError, DriftError, UnknownName, UsageError

ROWS = pa.table(
    {
        "id": pa.array([1, 2], pa.int64()),
        "name": ["ada", None],
        "price": pa.array([Decimal("19.90"), None], pa.decimal128(10, 2)),
        "ratio": [0.1, None],
        "ok": [True, None],
        "day": [date(2026, 2, 28), None],
        "wall": [datetime(2026, 1, 1, 2, 3, 4, 567890), None],
        "at": [datetime(2026, 1, 1, tzinfo=UTC), None],
        "raw": [b"\x00\xff", None],
        "small": pa.array([2**53 + 1, None], pa.int64()),
    }
)
COLUMNS = ROWS.column_names
FRAMES = {
    "pandas": lambda _: ROWS.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda _: pl.from_arrow(ROWS),
    "lazy polars": lambda _: pl.from_arrow(ROWS).lazy(),
    "pyarrow": lambda _: ROWS,
    "batch": lambda _: ROWS.to_batches()[0],
    "reader": lambda _: ROWS.to_reader(),
    # Spark takes a time without a zone for one of the session's, unless it is told.
    "spark": lambda spark: spark.createDataFrame(ROWS).selectExpr(
        *(f"CAST({name} AS TIMESTAMP_NTZ)" if name == "wall" else name for name in COLUMNS)
    ),
}
# Every library once, and every kind of database once.
PAIRS = [*((each, "memory") for each in FRAMES), ("pandas", "sqlite"), ("pyarrow", "duckdb")]


@pytest.fixture(autouse=True)
def own_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with declaring_into(Project()):
        yield


def house(kind):
    place = {"database": uuid4().hex} if kind == "memory" else {"path": ":memory:"}
    return connect(f"house_{uuid4().hex}", kind=kind, **place)


def ordered(connection, table="t", order="id"):
    found = connection.read_df(f"SELECT * FROM {table} ORDER BY {order}", as_="pyarrow")
    # What every load adds of its own.
    return found.drop_columns([each for each in found.column_names if each.startswith("_")])


@pytest.mark.proves("frames", "types-survive")
@pytest.mark.parametrize(("library", "kind"), PAIRS)
def test_every_frame_arrives_whole_in_every_mode_without_a_key(spark, library, kind):
    connection = house(kind)
    frame = FRAMES[library]
    first = connection.write_df(frame(spark), "t", spark=spark)
    assert (first.status, first.rows.inserted) == ("succeeded", 2)
    assert ordered(connection).to_pylist() == ROWS.to_pylist()
    assert connection.write_df(frame(spark), "t", spark=spark).run_id != first.run_id
    assert ordered(connection).num_rows == 4
    connection.write_df(frame(spark), "t", mode="truncate", spark=spark)
    assert ordered(connection).to_pylist() == ROWS.to_pylist()


@pytest.mark.proves("frames")
def test_reading_gives_the_frame_that_is_asked_for_with_exact_types(spark):
    connection = house("memory")
    connection.write_df(ROWS, "t", spark=spark)
    query = "SELECT * FROM t ORDER BY id"
    arrow = connection.read_df(query, as_="pyarrow").select(ROWS.column_names)
    assert [field.type for field in arrow.schema] == [field.type for field in ROWS.schema]
    pandas = connection.read_df(query)
    assert pandas["small"].tolist() == [2**53 + 1, pd.NA]
    assert str(pandas["price"].dtype) == "decimal128(10, 2)[pyarrow]"
    polars = connection.read_df(query, as_="polars")
    assert polars["at"].dtype == pl.Datetime("us", "UTC")
    assert polars["name"].to_list() == ["ada", None]


@pytest.mark.proves("frames")
def test_a_spark_frame_is_lazy_and_of_the_callers_session(spark):
    connection = house("memory")
    connection.write_df(ROWS, "t", spark=spark)
    frame = connection.read_df("SELECT id, name FROM t", spark=spark)
    connection.write_df(ROWS.slice(0, 0), "t", mode="truncate", spark=spark)
    assert frame.sparkSession is spark
    assert [frame.count(), frame.where("name IS NULL").count()] == [2, 1]
    with pytest.raises(UsageError, match="a Spark frame belongs to a session"):
        connection.read_df("SELECT 1", as_="spark")
    with pytest.raises(UnknownName, match="did you mean 'polars'"):
        connection.read_df("SELECT 1", as_="polar")


def test_files_are_queried_by_spark_and_leave_no_views_behind(spark, tmp_path):
    (tmp_path / "orders.csv").write_text("id,name\n1,ada\n2,\n")
    files = connect("files", kind="csv", path=".")
    found = files.read_df("SELECT name FROM orders ORDER BY id", as_="pyarrow", spark=spark)
    assert found.to_pylist() == [{"name": "ada"}, {"name": None}]
    assert files.read_df("SELECT * FROM orders", spark=spark).count() == 2
    assert not spark.catalog.tableExists("orders")


def people():
    @ematix.table
    class People:
        id: Annotated[BigInt, pk()]
        name: String[4]
        points: Numeric[5, 1] | None

    return People


BAD = {
    "NULL": ({"id": 2, "name": None, "points": None}, "id=2: name is NULL"),
    "length": ({"id": 2, "name": "grace", "points": None}, "id=2: name"),
    "digits": ({"id": 2, "name": "ada", "points": 1.25}, "id=2: points"),
}


@pytest.mark.proves("null-in-not-null", "values-refused", "nothing-half-written")
@pytest.mark.parametrize("library", ["pandas", "pyarrow", "spark"])
@pytest.mark.parametrize("fault", BAD)
def test_a_row_that_breaks_the_contract_stops_the_load_with_its_key(spark, library, fault):
    connection, table = house("memory"), people()
    row, told = BAD[fault]
    schema = pa.schema({"id": pa.int64(), "name": pa.string(), "points": pa.float64()})
    rows = pa.Table.from_pylist([{"id": 1, "name": "ada", "points": 1.5}, row], schema=schema)
    frame = {
        "pandas": rows.to_pandas,
        "pyarrow": lambda: rows,
        "spark": lambda: spark.createDataFrame(rows),
    }[library]()
    connection.write_df(rows.slice(0, 1), table, spark=spark)
    with pytest.raises(ContractError) as caught:
        connection.write_df(frame, table, mode="truncate", spark=spark)
    assert told in str(caught.value)
    assert ordered(connection, "people").num_rows == 1


@pytest.mark.proves("drift-policies")
def test_a_table_that_is_there_judges_a_frame_that_names_it(spark):
    connection = house("memory")
    with declaring_into(Project()):
        connection.write_df(pa.table({"id": [1], "name": ["ada"]}), people_of_two(), spark=spark)
    with pytest.raises(ContractError, match="id=2: name is NULL"):
        connection.write_df(pa.table({"id": [2], "name": [None]}), "person", spark=spark)
    connection.write_df(pd.DataFrame({"NAME": ["alan"], "id": [3]}), "person", spark=spark)
    assert ordered(connection, "person").to_pylist()[-1] == {"id": 3, "name": "alan"}
    with pytest.raises(DriftError, match="shoe"):
        connection.write_df(
            pa.table({"id": [4], "name": ["g"], "shoe": [42]}), "person", spark=spark
        )
    wider = pa.table({"id": [4], "name": ["g"], "shoe": [42]})
    connection.write_df(wider, "person", on_drift="evolve", spark=spark)
    assert ordered(connection, "person").to_pylist()[-1] == wider.to_pylist()[0]


def people_of_two():
    @ematix.table
    class Person:
        id: Annotated[BigInt, pk()]
        name: Text

    return Person


def test_sync_loads_from_a_query_a_frame_and_a_whole_table(spark):
    app, store = house("memory"), house("memory")
    app.write_df(ROWS.select(["id", "name"]), "people", spark=spark)
    told = {"target_connection": store, "mode": "truncate", "spark": spark}
    query = "SELECT id, upper(name) AS name FROM people"
    first = pipeline.sync(target="loud", source=query, source_connection=app, **told)
    again = pipeline.sync(target="loud", source=query, source_connection=app, **told)
    assert (first.pipeline, first.rows.inserted) == (again.pipeline, again.rows.inserted)
    assert ordered(store, "loud")["name"].to_pylist() == ["ADA", None]
    pipeline.sync(target="loud", source=ROWS.select(["id", "name"]), **told)
    assert ordered(store, "loud")["name"].to_pylist() == ["ada", None]
    with backends()["memory"].target(store).open() as session:
        session.execute("CREATE TABLE whole AS SELECT id, name FROM loud")
    pipeline.sync(target="copy", source_table="whole", source_connection=store, **told)
    assert ordered(store, "copy").num_rows == 2


@pytest.mark.proves("frames")
@pytest.mark.parametrize(
    ("mode", "library"),
    [
        *((mode, each) for mode in ("merge", "scd2") for each in ("pandas", "polars", "pyarrow")),
        *((mode, "spark") for mode in ("merge", "scd1", "scd2")),
    ],
)
def test_modes_with_a_key_insert_change_and_leave_alone(spark, mode, library):
    connection = house("memory")
    kept, told = "a", {"mode": mode, "keys": ["id"], "spark": spark}

    def frame(*rows):
        made = pd.DataFrame(rows, columns=["id", "name"])
        return {
            "pandas": lambda: made,
            "polars": lambda: pl.from_pandas(made),
            "pyarrow": lambda: pa.Table.from_pandas(made, preserve_index=False),
            "spark": lambda: spark.createDataFrame(made),
        }[library]()

    connection.write_df(frame((1, kept), (2, "b")), "t", **told)
    second = connection.write_df(frame((1, kept), (2, "B"), (3, "c")), "t", **told)
    assert (second.rows.inserted, second.rows.unchanged) == (2 if mode == "scd2" else 1, 1)
    current = "WHERE is_current" if mode == "scd2" else ""
    found = connection.read_df(f"SELECT id, name FROM t {current} ORDER BY id", as_="pyarrow")
    assert [tuple(row.values()) for row in found.to_pylist()] == [(1, kept), (2, "B"), (3, "c")]
    history = connection.read_df("SELECT count(*) AS n FROM t", as_="pyarrow")["n"].to_pylist()
    assert history == [4 if mode == "scd2" else 3]


@pytest.fixture
def server(request, monkeypatch):
    """A connection to an empty database of a server."""
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")
    found = request.getfixturevalue(f"{request.param[0]}_database")
    return connect(f"house_{uuid4().hex}", kind=request.param[1], url=found.dsn)


@pytest.mark.proves("frames", "types-survive")
@pytest.mark.services
@pytest.mark.parametrize(
    ("server", "library"),
    [(("postgres", "postgres"), "polars"), (("mariadb", "mysql"), "pandas")],
    indirect=["server"],
)
def test_a_frame_goes_into_a_server_and_comes_back(spark, server, library):
    stored = ROWS.to_pylist()
    if server.kind == "mysql":  # its times are in UTC, which it does not say
        stored = [{**row, "at": row["at"] and row["at"].replace(tzinfo=None)} for row in stored]
    for frame in (FRAMES[library](spark), FRAMES["spark"](spark)):
        done = server.write_df(frame, "t", mode="truncate", spark=spark)
        assert done.rows.inserted == 2
        assert ordered(server).to_pylist() == stored
    changed = pa.table({"id": [1, 3], "name": ["ADA", "cy"]})
    told = {"mode": "scd2", "keys": ["id"], "spark": spark}
    server.write_df(ROWS.select(["id", "name"]), "h", **told)
    second = server.write_df(changed, "h", **told)
    assert (second.rows.inserted, second.rows.closed) == (2, 1)
    current = server.read_df("SELECT id, name FROM h WHERE is_current ORDER BY id", as_="pyarrow")
    assert [tuple(row.values()) for row in current.to_pylist()] == [
        (1, "ADA"),
        (2, None),
        (3, "cy"),
    ]
