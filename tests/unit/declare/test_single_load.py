"""Loads that nobody declared: what they are called, what they are given, what is refused."""

from typing import Annotated

import pyarrow as pa
import pytest

from ematix_flow import BigInt, Source, Text, connect, ematix, pipeline, pk
from ematix_flow.declare import runner
from ematix_flow.declare.project import Project, declaring_into
from ematix_flow.errors import DeclarationError, UsageError
from ematix_flow.ports import ActualColumn
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.types import Integer, Numeric


class FakeRunner:
    """Remembers what it was asked to run."""

    def __init__(self, columns=None):
        self.known = columns
        self.runs = []

    def __call__(self, project, *, session, directory):
        self.project, self.session, self.directory = project, session, directory
        return self

    def run(self, name, *, new):
        self.runs.append((name, new))
        return "the record"

    def columns(self, *_):
        return self.known

    def dialect(self, _):
        return "duckdb"

    def read_frame(self, connection, query, kind):
        return connection, query, kind

    @property
    def spec(self):
        [found] = self.project.pipelines.values()
        return found


@pytest.fixture
def ran(monkeypatch):
    fake = FakeRunner()
    monkeypatch.setattr(runner, "_factory", [fake])
    with declaring_into(Project()):
        yield fake


def table():
    @ematix.table(schema="shop")
    class Orders:
        order_id: Annotated[BigInt, pk()]
        note: Text | None

    return Orders


def test_the_name_is_a_decorator_and_a_call():
    assert ematix.pipeline is pipeline
    assert ematix.job is pipeline


def test_sync_runs_a_pipeline_of_its_own_beside_what_is_declared(ran):
    wh = connect("wh", kind="memory")

    @ematix.pipeline(target="other", target_connection=wh, source_table="x", source_connection=wh)
    def declared(): ...

    record = pipeline.sync(
        target=table(), source="SELECT 1", source_connection=wh, target_connection="wh", mode="scd1"
    )
    assert record == "the record"
    assert list(ran.project.pipelines) == [ran.spec.name]
    assert (ran.spec.mode, ran.spec.source_connection) == (Mode.SCD1, "wh")
    assert ran.spec.function() == "SELECT 1"
    assert "test_single_load.py" in str(ran.spec.location)
    assert ran.runs == [(ran.spec.name, False)]


def test_loads_of_different_sources_are_different_pipelines(ran):
    def name(**keywords):
        pipeline.sync(target="orders", target_connection="wh", **keywords)
        return ran.spec.name

    first = name(source="SELECT 1 AS a", source_connection="app")
    assert first.startswith("sync.wh.orders-")
    assert name(source="SELECT 1 AS a", source_connection="app") == first
    others = {
        name(source="SELECT 2 AS a", source_connection="app"),
        name(source="SELECT 1 AS a", source_connection="other"),
        name(source="SELECT 1 AS a", source_connection="app", mode="truncate"),
        name(source=Source(connection="app", query="SELECT 1 AS a")),
        name(source_table="orders", source_connection="app"),
    }
    assert len(others | {first}) == 6
    assert name(source="SELECT 1", source_connection="app", name="nightly") == "nightly"


def test_a_frame_is_written_as_a_new_run_named_after_its_table(ran):
    wh = connect("wh", kind="memory")
    wh.write_df(pa.table({"order_id": [1], "note": ["a"]}), table(), mode="truncate")
    assert ran.runs == [("write_df.wh.shop.orders", True)]
    assert ran.spec.function().to_pylist() == [{"order_id": 1, "note": "a"}]
    wh.write_df(pa.table({"a": [1]}), "order lines/é")
    assert ran.runs[-1] == ("write_df.wh.order_lines_é", True)
    wh.write_df(pa.table({"a": [1]}), "t" * 200)
    assert len(ran.runs[-1][0]) == 100


def test_a_name_alone_takes_its_columns_from_the_table_then_from_the_frame(ran):
    wh = connect("wh", kind="memory")
    ran.known = (
        ActualColumn(name="ID", type="INTEGER", nullable=False, primary_key=True),
        ActualColumn(name="price", type="DECIMAL(10,2)", nullable=True),
    )
    wh.write_df(pa.table({"id": [1], "price": [1.5], "note": ["x"]}), "orders")
    found = [(each.name, each.type, each.nullable) for each in ran.spec.target.table.columns]
    assert found == [
        ("ID", Integer(), False),
        ("price", Numeric(10, 2), True),
        ("note", Text(), True),
    ]
    assert ran.spec.target.table.primary_key == ("ID",)


@pytest.mark.parametrize("keys", ["id", ["id"]])
def test_the_keys_of_a_table_to_come_are_its_primary_key(ran, keys):
    rows = pa.table({"id": [1], "note": ["x"]})
    connect("wh", kind="memory").write_df(rows, "orders", mode="merge", keys=keys)
    found = [(each.name, each.nullable) for each in ran.spec.target.table.columns]
    assert found == [("id", False), ("note", True)]
    assert ran.spec.target.table.primary_key == ("id",)


def test_reading_asks_the_connection_itself(ran):
    wh = connect("wh", kind="memory")
    assert wh.read_df("SELECT 1") == ("wh", "SELECT 1", None)
    assert wh.read_df("SELECT 1", as_="polars") == ("wh", "SELECT 1", "polars")
    session = object()
    assert wh.read_df("SELECT 1", spark=session) == ("wh", "SELECT 1", "spark")
    assert ran.session is session
    with pytest.raises(UsageError, match="read_df takes SQL, not ''"):
        wh.read_df("")


REFUSED = [
    ({"source": 5}, "source takes SQL, a Source, or a Spark, pandas, .* frame, not int"),
    ({}, "source takes SQL"),
    ({"source": "SELECT 1", "incremental_column": "at"}, "(?s)an incremental load .*name="),
    ({"source": "SELECT 1", "moed": "append"}, "no keyword 'moed'; did you mean 'mode'"),
    ({"source": pa.table({"a": [1]}), "source_connection": "app"}, "a frame holds its rows"),
    ({"source": pa.table({"a": [None]})}, "column 'a' of the frame is null, and t has no such"),
]


@pytest.mark.parametrize(("keywords", "told"), REFUSED)
def test_a_wrong_call_is_told_with_the_users_line(ran, keywords, told):
    with pytest.raises(DeclarationError, match=told) as caught:
        pipeline.sync(target="t", target_connection=connect("wh", kind="memory"), **keywords)
    assert "test_single_load.py" in str(caught.value)
    assert ran.runs == []


@pytest.mark.usefixtures("ran")
def test_only_frames_are_written_as_frames():
    with pytest.raises(DeclarationError, match=r"takes a Spark, pandas, .* frame, not list"):
        connect("wh", kind="memory").write_df([{"a": 1}], "t")
