"""Lineage of DataFrame code: of pipelines of several shapes, and without running a job."""

from __future__ import annotations

import pytest
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  # its usual name

from ematix_flow.engine.analysis.lineage import frame_lineage
from ematix_flow.spec.table import TableName
from ematix_flow.sqltext.dialect import parse_query
from ematix_flow.sqltext.lineage import column_lineage


@pytest.fixture(scope="module")
def shop(spark):
    """A session with three views over data of known columns."""
    session = spark.newSession()
    for name, columns in {
        "customers": "id BIGINT, name STRING, country STRING",
        "orders": "id BIGINT, customer BIGINT, amount DECIMAL(10,2), at TIMESTAMP",
        "carts": "id BIGINT, items ARRAY<STRUCT<sku: STRING, price: DOUBLE>>, "
        "owner STRUCT<name: STRING, age: INT>",
    }.items():
        session.createDataFrame([], columns).createOrReplaceTempView(name)
    return session


def traced(lineage):
    """Per column: its kind, its sources, and the tables whose rows it counts."""
    assert lineage.complete, lineage.reasons or [each.reasons for each in lineage.columns]
    return {
        each.column: (
            each.kind,
            [str(source) for source in each.sources],
            list(map(str, each.rows_of)),
        )
        for each in lineage.columns
    }


def influences(lineage):
    return {(str(each.column), each.role) for each in lineage.influences}


@pytest.mark.proves("lineage")
def test_join_and_aggregate(shop):
    orders, customers = shop.table("orders"), shop.table("customers")
    frame = (
        orders.join(customers, orders.customer == customers.id)
        .where(F.col("at") > F.lit("2026-01-01"))
        .groupBy("country")
        .agg(F.sum("amount").alias("total"), F.count("*").alias("n"), F.max(customers.name))
        .withColumn("share", F.col("total") / F.col("n"))
        .withColumn("source", F.lit("shop"))
    )
    lineage = frame_lineage(frame)
    assert traced(lineage) == {
        "country": ("column", ["customers.country"], []),
        "total": ("aggregate", ["orders.amount"], []),
        "n": ("aggregate", [], ["orders", "customers"]),
        "max(name)": ("aggregate", ["customers.name"], []),
        "share": ("aggregate", ["orders.amount"], ["orders", "customers"]),
        "source": ("constant", [], []),
    }
    assert influences(lineage) == {
        ("orders.customer", "join"),
        ("customers.id", "join"),
        ("orders.at", "filter"),
        ("customers.country", "group_by"),
    }
    assert [str(each) for each in lineage.tables] == ["orders", "customers"]


@pytest.mark.proves("lineage")
def test_window_and_union(shop):
    latest = Window.partitionBy("customer").orderBy(F.desc("at"))
    ranked = shop.table("orders").withColumn("rank", F.row_number().over(latest))
    running = F.sum("amount").over(latest).alias("running")
    newest = ranked.where("rank = 1").select("customer", "rank", running)
    anyone = shop.table("customers").select(
        F.col("id"), F.lit(0), F.lit(None).cast("decimal(20,2)")
    )
    lineage = frame_lineage(newest.union(anyone).orderBy("running").limit(10))
    assert traced(lineage) == {
        "customer": ("column", ["orders.customer", "customers.id"], []),
        "rank": ("expression", ["orders.customer", "orders.at"], []),
        "running": ("expression", ["orders.amount", "orders.customer", "orders.at"], []),
    }
    assert ("orders.amount", "sort") in influences(lineage)
    assert ("orders.at", "filter") in influences(lineage)


@pytest.mark.proves("lineage")
def test_udf_explode_and_struct(shop):
    shout = F.udf(lambda text: text.upper(), "string")
    frame = (
        shop.table("carts")
        .select(
            "id", F.explode("items").alias("item"), shout("owner.name").alias("who"), "owner.age"
        )
        .select("id", "who", "age", F.col("item.sku"), (F.col("item.price") * 2).alias("double"))
        .withColumn("pair", F.struct("sku", "who"))
        .withColumn("drawn", F.rand())
    )
    assert traced(frame_lineage(frame)) == {
        "id": ("column", ["carts.id"], []),
        "who": ("expression", ["carts.owner"], []),
        "age": ("expression", ["carts.owner"], []),
        "sku": ("expression", ["carts.items"], []),
        "double": ("expression", ["carts.items"], []),
        "pair": ("expression", ["carts.items", "carts.owner"], []),
        "drawn": ("constant", [], []),
    }


SQL = [
    "SELECT * FROM orders WHERE customer IN (SELECT id FROM customers WHERE country = 'NL')",
    "WITH o AS (SELECT id, at FROM orders) SELECT a.id, b.at FROM o a JOIN o b USING (id)",
    "SELECT (SELECT max(name) FROM customers c WHERE c.id = o.customer) AS m FROM orders o",
    "SELECT EXISTS (SELECT 1 FROM customers c WHERE c.id = o.customer) AS e, id FROM orders o",
    "SELECT country, name, count(*) AS n FROM customers GROUP BY ROLLUP (country, name)",
    "SELECT id FROM orders EXCEPT SELECT id FROM customers",
    "SELECT id FROM orders INTERSECT SELECT id FROM customers",
    "SELECT o.id, l.name FROM orders o, LATERAL (SELECT name FROM customers WHERE id = o.id) l",
    "SELECT * FROM (SELECT id, customer FROM orders) UNPIVOT (v FOR k IN (id, customer))",
    "SELECT * FROM customers PIVOT (sum(id) FOR country IN ('NL', 'BE'))",
    "WITH RECURSIVE r(n, m) AS (SELECT 1, 0 UNION ALL SELECT n + 1, n FROM r WHERE n < 5) "
    "SELECT * FROM r",
    "SELECT transform(items, i -> i.price + id) AS t, owner.name FROM carts",
    "SELECT * FROM VALUES (1, 'a') AS v(x, y)",
    "SELECT id, k.sku FROM carts LATERAL VIEW explode(items) e AS k",
    "SELECT sum(id) OVER (PARTITION BY country) AS s, row_number() OVER (ORDER BY 1) AS n "
    "FROM customers",
]


@pytest.mark.proves("lineage")
@pytest.mark.parametrize("query", SQL)
def test_sql_has_the_same_lineage_by_its_plan_and_by_its_text(shop, query):
    planned = frame_lineage(shop.sql(query))
    schema = {
        TableName(name=name): shop.table(name).columns for name in ("orders", "customers", "carts")
    }
    parsed = parse_query(query, dialect="spark", where="test")
    written = column_lineage(parsed, dialect="spark", schema=schema)
    assert _facts(planned) == _facts(written)


def _facts(lineage):
    assert lineage.complete
    return [(each.column, set(each.sources), set(each.rows_of)) for each in lineage.columns]


def test_a_function_over_rows_may_use_any_column(shop):
    orders = shop.table("orders").select("id", "amount")
    frame = orders.mapInPandas(lambda batches: batches, "a BIGINT, b STRING")
    assert traced(frame_lineage(frame)) == {
        "a": ("expression", ["orders.id", "orders.amount"], []),
        "b": ("expression", ["orders.id", "orders.amount"], []),
    }


def test_a_view_is_followed_unless_it_is_named_as_a_source(shop):
    shop.table("orders").selectExpr("id", "amount * 2 AS twice").createOrReplaceTempView("doubled")
    frame = shop.table("doubled").alias("d").select("d.twice")
    assert traced(frame_lineage(frame)) == {"twice": ("expression", ["orders.amount"], [])}
    assert traced(frame_lineage(frame, sources=["doubled"])) == {
        "twice": ("column", ["doubled.twice"], [])
    }


def test_a_file_is_named_by_its_path_and_foreign_rows_are_not_guessed(shop, tmp_path):
    shop.range(3).write.parquet(str(tmp_path / "numbers"))
    read = frame_lineage(shop.read.parquet(str(tmp_path / "numbers")))
    [source] = read.columns[0].sources
    assert (source.table.name.endswith("/numbers"), source.column) == (True, "id")
    made = frame_lineage(shop.createDataFrame([(1,)], "id INT"))
    assert not made.complete
    assert "handed to Spark" in made.columns[0].reasons[0]


def test_no_job_is_run(shop):
    context = shop.sparkContext
    frame = shop.table("orders").join(shop.table("customers"), "id").groupBy("country").count()
    context.setJobGroup("lineage", "none of its own")
    try:
        assert frame_lineage(frame) is not None
        assert list(context.statusTracker().getJobIdsForGroup("lineage")) == []
        frame.collect()  # the same tracker sees a job when there is one
        assert len(context.statusTracker().getJobIdsForGroup("lineage")) > 0
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)


def test_an_engine_without_plans_says_nothing():
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.plan import Range

    assert frame_lineage(DataFrame(Range(0, 3, 1), session=object())) is None
