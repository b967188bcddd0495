"""Python functions in queries whose tables lie in a database: the tables come to Spark."""

import duckdb
import pytest

PROJECT = """
import pyarrow.compute as pc

@ematix.connection
class house:
    kind = "duckdb"
    path = "house.duckdb"

@ematix.table(schema="shop")
class Loud:
    id: Annotated[BigInt, pk()]
    name: Text

@udf(args=[Text], returns=Text)
def shout(names):
    return pc.utf8_upper(names)

@ematix.pipeline(target=Loud, source_connection=house, target_connection=house{dialect})
def loud():
    return '''{query}'''
"""


@pytest.mark.proves("udfs", "path-explained")
@pytest.mark.parametrize(
    ("dialect", "query"),
    [
        ("", "SELECT id, shout(name) AS name FROM shop.people WHERE id > 1"),
        (", dialect='spark'", "SELECT id, shout(name) AS name FROM shop.people WHERE id > 1"),
        (
            "",
            "SELECT p.id, shout(q.name) AS name FROM shop.people AS p "
            "JOIN shop.people AS q ON p.id = q.id WHERE p.id > 1",
        ),
    ],
)
def test_a_function_over_a_databases_tables(project, spark, dialect, query):
    project.declare(PROJECT.format(dialect=dialect, query=query))
    with duckdb.connect(str(project.path / "house.duckdb")) as database:
        database.execute("CREATE SCHEMA shop; CREATE TABLE shop.people (id BIGINT, name TEXT)")
        database.execute("INSERT INTO shop.people VALUES (1, 'ada'), (2, 'grace')")
    flow = project.flow(session=spark)
    assert "Python functions" in flow.plan("loud").path_why
    flow.run("loud")
    assert project.rows("house.duckdb", "SELECT id, name FROM shop.loud") == [(2, "GRACE")]
