"""Functions that work on frames: what they are given, what they may return."""

import pytest

from ematix_flow.errors import ContractError, DeclarationError, UserCodeError
from ematix_flow.plan.show import plan_json

PROJECT = """
@ematix.connection
class landing:
    kind = "csv"
    path = "data"

@ematix.connection
class house:
    kind = "{kind}"
    path = "house.db"

@ematix.table
class Orders:
    order_id: Annotated[BigInt, pk()]
    customer: Text
    amount: Numeric[10, 2] | None

@ematix.table
class Totals:
    customer: Annotated[Text, pk()]
    amount: Numeric[20, 2] | None

@ematix.pipeline(target=Orders, source_connection="landing", target_connection="house")
def load_orders(src):
    assert (src.connection, src.kind) == ("landing", "csv")
    return src.table("orders").where("order_id > 1")

@ematix.pipeline(target=Totals, target_connection="house", mode="truncate"{depends})
def totals({parameters}):
    {body}
"""
ROWS = [("1", "ada", "19.90"), ("2", "grace", "5.00"), ("3", "ada", "42.50")]
TOTALS = [("ada", "42.50"), ("grace", "5.00")]


def loaded(project, spark, parameters, body, *, kind="sqlite", depends=""):
    project.declare(PROJECT.format(kind=kind, parameters=parameters, body=body, depends=depends))
    project.csv("orders", ("order_id", "customer", "amount"), ROWS)
    flow = project.flow(session=spark)
    assert flow.order(()) == ("load_orders", "totals")
    flow.run("load_orders")
    return flow


BODIES = {
    "a parameter is a frame": (
        "load_orders",
        "return load_orders.groupBy('customer').agg({'amount': 'sum'}).toDF('customer', 'amount')",
    ),
    "a table by its name": (
        "orders, spark",
        "orders.createOrReplaceTempView('o')\n"
        "    return spark.sql('SELECT customer, sum(amount) AS amount FROM o GROUP BY customer')",
    ),
    "SQL over parameters": (
        "spark, load_orders",
        "return 'SELECT customer, sum(amount) AS amount FROM load_orders GROUP BY customer'",
    ),
    "SQL with the table's name": (
        "load_orders",
        "return f'SELECT customer, {SUM} AS amount FROM {load_orders} GROUP BY customer'",
    ),
    "pandas": (
        "load_orders",
        "frame = load_orders.toPandas()\n"
        "    return frame.groupby('customer', as_index=False)[['amount']].sum()",
    ),
    "pyarrow": (
        "load_orders",
        "return load_orders.toArrow().group_by('customer')"
        ".aggregate([('amount', 'sum')]).rename_columns(['customer', 'amount'])",
    ),
    "polars": (
        "load_orders",
        "import polars as pl\n"
        "    frame = pl.from_arrow(load_orders.toArrow())\n"
        "    return frame.group_by('customer').agg(pl.col('amount').sum())",
    ),
    "lazy polars": (
        "load_orders",
        "import polars as pl\n"
        "    frame = pl.from_arrow(load_orders.toArrow()).lazy()\n"
        "    return frame.group_by('customer').agg(pl.col('amount').sum())",
    ),
    "record batches": (
        "load_orders",
        "import pyarrow as pa\n"
        "    table = load_orders.toArrow().group_by('customer').aggregate([('amount', 'sum')])\n"
        "    return table.rename_columns(['customer', 'amount']).to_reader()",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_a_function_takes_and_returns(project, spark, name):
    parameters, body = BODIES[name]
    # SQLite keeps decimals as text, which it cannot sum exactly; DuckDB can.
    body = body.replace("{SUM}", "sum(amount)")
    flow = loaded(project, spark, parameters, body, kind="duckdb")
    flow.run("totals")
    rows = project.rows("house.db", "SELECT customer, amount::VARCHAR FROM totals ORDER BY 1")
    assert rows == TOTALS


def test_an_async_function_works(project, spark):
    body = (
        "return load_orders.groupBy('customer').agg({'amount': 'max'}).toDF('customer', 'amount')"
    )
    flow = loaded(project, spark, "load_orders", body)
    module = project.path / "pipelines.py"
    module.write_text(module.read_text().replace("def totals", "async def totals"))
    flow = project.flow(session=spark)
    flow.run("totals")
    assert project.rows("house.db", "SELECT customer, amount FROM totals ORDER BY 1") == TOTALS


def test_a_query_of_the_source_is_a_frame(project, spark):
    flow = loaded(project, spark, "src", "return src.query('SELECT customer, amount FROM orders')")
    module = project.path / "pipelines.py"
    module.write_text(
        module.read_text().replace(
            'target_connection="house", mode',
            'target_connection="house", depends_on="load_orders", source_connection="house", mode',
        )
    )
    flow = project.flow(session=spark)
    flow.run("totals")
    assert project.rows("house.db", "SELECT customer, amount FROM totals ORDER BY 1") == TOTALS


def test_an_error_in_the_function_is_told_with_its_line(project, spark):
    flow = loaded(project, spark, "load_orders", "return load_orders.columns[7]")
    with pytest.raises(UserCodeError) as caught:
        flow.run("totals")
    assert "raised IndexError" in str(caught.value)
    assert "pipelines.py:" in str(caught.value)


def test_a_frame_with_other_columns_is_refused(project, spark):
    flow = loaded(project, spark, "load_orders", "return load_orders")
    with pytest.raises(ContractError, match="returns order_id, which totals does not declare"):
        flow.run("totals")


@pytest.mark.parametrize(
    ("parameters", "body", "rows"),
    [
        (
            "spark",
            "return spark.sql(\"SELECT 'ada' AS customer, NULL AS amount\")",
            [("ada", None)],
        ),
        (
            "spark",
            "import pandas as pd\n    return pd.DataFrame({'customer': ['ada'], 'amount': [None]})",
            [("ada", None)],
        ),
        (
            "spark",
            "import pandas as pd\n    return pd.DataFrame({'customer': [], 'amount': []})",
            [],
        ),
    ],
)
def test_a_frame_may_have_no_values_and_no_rows(project, spark, parameters, body, rows):
    loaded(project, spark, parameters, body, depends=", depends_on='load_orders'").run("totals")
    assert project.rows("house.db", "SELECT customer, amount FROM totals") == rows


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("import pandas as pd\n    return pd.Series([1], name='amount')", "returned Series;"),
        ("import pyarrow as pa\n    return pa.array([1])", "returned Int64Array;"),
        ("from pyspark.sql.functions import lit\n    return lit(1)", "returned Column;"),
        ("import pandas as pd\n    return pd.DataFrame()", "a pandas DataFrame without columns"),
    ],
)
def test_what_is_no_frame_is_told_with_its_line(project, spark, body, expected):
    flow = loaded(project, spark, "spark", body, depends=", depends_on='load_orders'")
    with pytest.raises(DeclarationError) as caught:
        flow.run("totals")
    assert expected in str(caught.value)
    assert "pipelines.py:" in str(caught.value)


@pytest.mark.proves("plan-pure", "lineage")
def test_analysis_learns_columns_and_lineage_and_runs_no_job(project, spark):
    body = BODIES["a parameter is a frame"][1]
    flow = loaded(project, spark, "load_orders", body)
    jobs = jobs_so_far(spark)
    told = {each.plan.pipeline: each.plan for each in flow.explain_all(analyze=True)}
    assert jobs_so_far(spark) == jobs
    lineage = plan_json(told["totals"])["lineage"]
    assert lineage["complete"]
    assert [(each["column"], each["sources"]) for each in lineage["columns"]] == [
        ("customer", [{"table": "orders", "column": "customer"}]),
        ("amount", [{"table": "orders", "column": "amount"}]),
    ]
    assert plan_json(told["load_orders"])["lineage"]["tables"] == ["orders"]


def test_code_that_runs_a_job_is_not_analysed_and_not_called_wrong(project, spark):
    flow = loaded(project, spark, "load_orders", "load_orders.count()\n    return load_orders")
    [told] = flow.explain_all(["totals"], analyze=True)
    assert not told.plan.analysed
    assert "not analysed: the function runs a Spark job (collect, count" in told.plan.remarks[-1]
    found = flow.validate("totals")
    assert found.error is None
    assert "planned, not analysed: the function runs a Spark job" in found.text


@pytest.mark.proves("validate-analyses")
def test_validate_asks_the_source_or_spark(project, spark):
    flow = loaded(project, spark, "load_orders", "return load_orders")
    assert flow.validate("load_orders").text == ("ok, Spark returns order_id, customer, amount")
    assert "returns order_id, which totals does not declare" in flow.validate("totals").text


@pytest.mark.proves("validate-analyses")
def test_validate_knows_the_columns_of_what_an_upstream_will_create(project, spark):
    project.declare(
        PROJECT.format(
            kind="duckdb",
            parameters="load_orders",
            body="return load_orders.select('customer', 'amuont')",
            depends="",
        )
    )
    project.csv("orders", ("order_id", "customer", "amount"), ROWS)
    told = project.flow(session=spark).validate("totals").text
    assert "`amuont` cannot be resolved. Did you mean one of the following? [`amount`" in told
    assert not (project.path / "house.db").exists()


def test_a_query_over_files_is_a_frame_too(project, spark):
    loaded(project, spark, "spark", "return None", depends=", depends_on='load_orders'")
    module = project.path / "pipelines.py"
    query = "SELECT * FROM orders WHERE order_id = 1"
    module.write_text(
        module.read_text().replace(
            'src.table("orders").where("order_id > 1")', f"src.query({query!r})"
        )
    )
    flow = project.flow(session=spark)
    assert flow.validate("load_orders").text == "ok, Spark returns order_id, customer, amount"
    flow.run("load_orders")
    ids = project.rows("house.db", "SELECT order_id FROM orders ORDER BY order_id")
    assert ids == [(1,), (2,), (3,)]


def jobs_so_far(spark):
    """Count the jobs of the session's context; only a classic session can be asked."""
    store = spark.sparkContext._jsc.sc().statusStore()
    return store.jobsList(None).size()


@pytest.mark.proves("validate-analyses")
def test_validate_finds_a_column_of_a_wrong_type(project, spark):
    body = "return load_orders.selectExpr('array(customer) AS customer', 'amount')"
    flow = loaded(project, spark, "load_orders", body)
    assert (
        "returns customer as array<string>, but totals declares Text"
        in flow.validate("totals").text
    )
