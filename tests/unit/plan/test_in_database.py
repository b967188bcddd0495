"""Which path a load takes within one database, and the reason that is given."""

import pytest

from ematix_flow.errors import PlanError
from ematix_flow.plan.show import plan_json, plan_text
from ematix_flow.spec.modes import Path

PROJECT = """
@ematix.connection
class db:
    kind = "{kind}"
    path = "db.db"

@ematix.connection
class other:
    kind = "{kind}"
    path = "other.db"

@udf(args=[Text], returns=Text)
def shout(words):
    return words

def unchanged(frame):
    return frame

@ematix.table
class Kept:
    id: Annotated[BigInt, pk()]
    {columns}

@ematix.pipeline(target=Kept, source_connection="db", target_connection="{target}", {options})
def load({parameters}):
    return "{query}"
"""
SOURCE = (
    "CREATE TABLE given (id BIGINT, name TEXT, amount NUMERIC(10,2), wall TIMESTAMP, day DATE,"
    " ratio REAL, gone BOOLEAN, more BIGINT)"
)


@pytest.fixture
def planned(project):
    def plan(query="SELECT id FROM given", **given):
        values = {
            "kind": "duckdb",
            "columns": "",
            "target": "db",
            "options": "",
            "parameters": "",
            **given,
        }
        if values["kind"] == "sqlite":
            project.sqlite("db.db", SOURCE)
        else:
            import duckdb

            with duckdb.connect(str(project.path / "db.db")) as database:
                database.execute(SOURCE.replace("TABLE", "OR REPLACE TABLE"))
                database.execute("CREATE OR REPLACE TABLE sums AS SELECT sum(1::BIGINT) AS total")
        project.declare(PROJECT.format(query=query, **values))
        return project.flow().plan("load")

    return plan


@pytest.mark.proves("path-explained", "plan-shows")
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize("mode", ["append", "truncate", "merge", "scd1", "scd2"])
def test_a_load_within_one_database_stays_in_it(planned, kind, mode):
    plan = planned(kind=kind, options=f'mode="{mode}"')
    assert plan.path == "in_database"
    assert plan.path_why == "the query and its target are both in db: no row leaves it"
    assert [step["step"] for step in plan_json(plan)["steps"]] == ["prepare", "select", "commit"]
    assert "2. select    run the query in db (" in plan_text(plan)
    assert "SELECT id FROM given" in plan_text(plan, sql=True)


@pytest.mark.proves("path-explained")
def test_what_is_told_to_run_on_spark_does(planned):
    plan = planned(options='force_path="spark"')
    assert plan.path == "spark"
    assert plan.path_why.endswith("Spark carries its result; force_path='spark' says so")


REFUSED = {
    "Python functions": (
        {"query": "SELECT id, shout(name) AS name FROM given", "columns": "name: Text | None"},
        "its rows are made by Spark, not by a query of the database",
    ),
    "a function of frames": (
        {"options": "transforms_pre=[unchanged]"},
        "transforms_pre hold what only Spark does",
    ),
    "a limit": ({"options": "transforms_pre=[limit(3)]"}, "transforms_pre hold what only Spark"),
    "a filter that is not proven": (
        {"options": "transforms_pre=[filter_where('id % 2 = 0')]"},
        "only Spark is known to read the condition 'id % 2 = 0'",
    ),
    "a marker that is not proven": (
        {"query": "SELECT id, name FROM given", "columns": "name: Annotated[Text | None, upper()]"},
        "upper() on name is not proven to mean the same in duckdb",
    ),
    "a marker that sets rows aside": (
        {
            "query": "SELECT id, name AS n FROM given",
            "columns": 'n: Annotated[BigInt | None, parse_int(on_failure="quarantine")]',
        },
        "on n sets rows aside, which Spark does",
    ),
    "a type that loses digits": (
        {"query": "SELECT id, amount FROM given", "columns": "amount: Numeric[10, 1] | None"},
        "amount is Numeric[10, 2] in the query and declared Numeric[10, 1], which Spark converts",
    ),
    "text as a number": (
        {"query": "SELECT id, name FROM given", "columns": "name: BigInt | None"},
        "name is Text in the query and declared BigInt, which Spark converts",
    ),
    "a time as a day": (
        {"query": "SELECT id, wall AS day FROM given", "columns": "day: Date | None"},
        "day is Timestamp in the query and declared Date, which Spark converts",
    ),
    "a type of its own": (
        {"query": "SELECT id, [1] AS name FROM given", "columns": "name: Text | None"},
        "declared Text, which Spark converts",
    ),
    "a deletion that is not proven": (
        {
            "query": "SELECT id, name FROM given",
            "options": """mode="merge", apply_as_deletes="name LIKE 'x%'" """,
        },
        "only Spark is known to read the condition \"name LIKE 'x%'\"",
    ),
    "text compared with a number": (
        {
            "query": "SELECT id, name FROM given",
            "options": 'mode="merge", apply_as_deletes="name = 1"',
        },
        "only Spark is known to read the condition 'name = 1'",
    ),
    "an order of doubles": (
        {
            "query": "SELECT id, ratio FROM given",
            "options": 'mode="merge", sequence_by="ratio"',
        },
        "only Spark puts rows in order by ratio",
    ),
    "expectations": ({"options": 'expectations=["id > 0"]'}, "it has expectations"),
}


@pytest.mark.proves("path-explained")
@pytest.mark.parametrize("case", REFUSED)
def test_what_only_spark_does_goes_through_spark_and_says_why(planned, case):
    given, why = REFUSED[case]
    plan = planned(**given)
    assert plan.path == "spark"
    assert why in plan.path_why
    assert "select" not in [step.name for step in plan.steps]


@pytest.mark.proves("path-explained")
@pytest.mark.parametrize("case", ["a limit", "text as a number", "an order of doubles"])
def test_what_only_spark_does_cannot_be_forced(planned, case):
    given, why = REFUSED[case]
    options = given.get("options", "")
    forced = ", ".join(filter(None, ['force_path="in_database"', options]))
    with pytest.raises(PlanError) as caught:
        planned(**{**given, "options": forced})
    assert caught.value.what.startswith("pipeline 'load' asks for force_path='in_database', but ")
    assert why in caught.value.what
    assert caught.value.hint == "leave force_path out to let the rows go where they can"
    assert "pipelines.py:" in str(caught.value)


@pytest.mark.proves("path-explained")
def test_two_databases_are_no_one_database(planned):
    assert planned(target="other").path is Path.DIRECT
    with pytest.raises(PlanError, match="its source and its target are two connections"):
        planned(target="other", options='force_path="in_database"')


def test_a_sum_that_fits_stays_in_the_database(planned):
    # A sum is of 128 bits in DuckDB; each value is asked whether it fits.
    plan = planned("SELECT total AS id FROM sums")
    assert plan.path == "in_database"
    [select] = [step for step in plan.steps if step.name == "select"]
    assert "BETWEEN -9223372036854775808 AND 9223372036854775807" in select.selection.sql


@pytest.mark.parametrize(
    ("expression", "kind", "path"),
    [
        ("count(*)", "BigInt", "in_database"),
        ("CAST(more AS INTEGER)", "BigInt", "in_database"),
        ("CAST(name AS TEXT)", "Text", "in_database"),
        ("more + 1", "BigInt", "spark"),
    ],
)
def test_sqlite_tells_no_type_of_an_expression_but_its_text_may(planned, expression, kind, path):
    plan = planned(
        f"SELECT id, {expression} AS x FROM given GROUP BY id, more, name",
        kind="sqlite",
        columns=f"x: {kind} | None",
    )
    assert plan.path == path


def test_a_target_that_is_only_a_name_takes_the_columns_of_the_query(project, planned):
    planned()
    text = (project.path / "pipelines.py").read_text().replace("target=Kept", 'target="fresh"')
    (project.path / "pipelines.py").write_text(text)
    plan = project.flow().plan("load")
    assert (plan.path, plan.first.target) == ("in_database", "fresh")


def test_it_is_validated_and_previewed_by_the_database(project, planned):
    planned("SELECT id, name FROM given", columns="name: String[3]")
    import duckdb

    with duckdb.connect(str(project.path / "db.db")) as database:
        database.execute(
            "INSERT INTO given (id, name) VALUES (1, 'abc'), (2, 'abcd'), (NULL, NULL)"
        )
    flow = project.flow()
    told = flow.validate("load")
    assert (told.error, told.analysed_by, told.columns) == (None, "db", ("id", "name"))
    found = flow.preview("load")
    assert (found.columns, found.rows) == (("id", "name"), ((1, "abc"), (2, "abcd"), (None, None)))
    assert found.problems == (
        None,
        "name: 'abcd' is longer than String[3]",
        "id is NULL, but declared NOT NULL",
    )
