"""What a source tells before a row is read: one suite, every source. No JVM."""

from __future__ import annotations

import pytest

from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import Connection
from ematix_flow.errors import NotSupported, QueryError, SourceMissing
from ematix_flow.ports import Reader
from tests.backends.places import SERVERS, Places
from tests.backends.test_pairs import NAMES, write_source


@pytest.fixture(autouse=True)
def _passwords_may_be_written_out(monkeypatch):
    monkeypatch.setenv("EMATIX_FLOW_ALLOW_INLINE_SECRETS", "1")


def source(places: Places, kind: str) -> Reader:
    """A reader over the rows of the pairs."""
    write_source(places, kind)
    if kind in SERVERS:
        config = {"url": places.database("src", kind).dsn}
    else:
        config = {"path": "data" if kind in ("csv", "parquet") else "src.db"}
    connection = Connection.from_config("src", {"kind": kind, **config}, base=places.project.path)
    return backends()[kind].reader(connection)


@pytest.mark.proves("validate-analyses")
def test_a_database_analyses_a_query(places, between_kind):
    reader = source(places, between_kind)
    found = reader.describe("SELECT day, id AS number, code FROM everything -- the last word")
    assert [each.name for each in found] == ["day", "number", "code"]
    assert all(each.type for each in found)
    assert found[0].type.casefold() == "date"


@pytest.mark.proves("validate-analyses")
def test_a_query_that_is_wrong_is_refused_with_its_words(places, between_kind):
    reader = source(places, between_kind)
    for query, word in (
        ("SELECT id, nmae FROM everything", "nmae"),
        ("SELECT * FROM evrything", "evrything"),
        ("SELECT id FROM everything WHERE WHERE", "WHERE"),
    ):
        with pytest.raises(QueryError, match=word):
            reader.describe(query)


def test_a_table_is_known_by_its_columns(places, source_kind):
    reader = source(places, source_kind)
    found = reader.inspect("everything")
    assert found.columns is not None
    assert tuple(each.name for each in found.columns) == NAMES
    assert found.size_bytes
    assert all(each.type for each in found.columns)


def test_a_table_that_is_not_there_is_missing_and_its_neighbour_named(places, source_kind):
    reader = source(places, source_kind)
    with pytest.raises(SourceMissing, match=r"did you mean 'everything'"):
        reader.inspect("everythin")


def test_the_whole_of_a_database_has_no_columns(places, between_kind):
    assert source(places, between_kind).inspect(None).columns is None


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_leave_queries_to_spark(places, kind):
    with pytest.raises(NotSupported, match="Spark runs it"):
        source(places, kind).describe("SELECT * FROM everything")


def test_the_types_of_files_are_those_that_spark_sees(places):
    described = source(places, "parquet").inspect("everything").columns
    assert described is not None
    assert [each.type for each in described] == [
        *("BIGINT", "SMALLINT", "INT", "FLOAT", "DOUBLE", "BOOLEAN", "STRING", "STRING"),
        *("DECIMAL(20,4)", "DATE", "TIMESTAMP_NTZ", "TIMESTAMP", "STRING", "STRING", "STRING"),
        "BINARY",
    ]


def test_a_csv_file_says_text_or_nothing(places):
    write_source(places, "csv")
    base = places.project.path
    for schema, known in (("text", True), ("infer", False)):
        config = {"kind": "csv", "path": "data", "schema": schema}
        reader = backends()["csv"].reader(Connection.from_config("src", config, base=base))
        found = reader.inspect("everything").columns
        assert (found is not None) == known
        assert {each.type for each in found or ()} <= {"STRING"}


@pytest.mark.parametrize("name", ["shop.orders", "Shop.Orders", "shop.Orders"])
def test_a_table_of_a_schema_is_found_in_duckdb(places, name):
    import duckdb

    with duckdb.connect(str(places.project.path / "src.db")) as database:
        database.execute("CREATE SCHEMA shop")
        database.execute("CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, note VARCHAR)")
        database.execute("CREATE TABLE orders (other INTEGER)")
    config = {"kind": "duckdb", "path": "src.db"}
    connection = Connection.from_config("src", config, base=places.project.path)
    found = backends()["duckdb"].reader(connection).inspect(name).columns
    assert [(each.name, each.nullable, each.primary_key) for each in found or ()] == [
        ("id", False, True),
        ("note", True, False),
    ]
