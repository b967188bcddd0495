import pytest

from ematix_flow.errors import DeclarationError

HEAD = """
@ematix.connection
class app:
    kind = "sqlite"
    path = "app.db"

@ematix.connection
class house:
    kind = "duckdb"
    path = "house.duckdb"

@ematix.table(schema="shop")
class Orders:
    id: Annotated[BigInt, pk()]

@ematix.table(schema="shop")
class Totals:
    id: Annotated[BigInt, pk()]

@ematix.pipeline(target=Orders, source_connection="app", target_connection="house")
def load_orders():
    return "SELECT id FROM orders"
"""


def after(project, text, name="second"):
    project.declare(HEAD + text)
    return [(each.upstream, each.why) for each in project.flow().after(name)]


def second(signature, body, more="", source="house"):
    return f"""
@ematix.pipeline(target=Totals, target_connection="house"{more}
                 {f', source_connection="{source}"' if source else ""})
def second({signature}):
    {body}
"""


@pytest.mark.parametrize(
    ("pipeline", "expected"),
    [
        (second("", 'return "SELECT id FROM shop.orders"'), "reads shop.orders"),
        (second("", 'return "SELECT id FROM Shop.ORDERS AS o"'), "reads Shop.ORDERS"),
        (
            second("", 'return "WITH x AS (SELECT * FROM shop.orders) SELECT id FROM x"'),
            "reads shop.orders",
        ),
        (second("load_orders", 'return f"SELECT id FROM {load_orders}"', source=""), "reads shop."),
        (second("orders", "return orders.limit(1)", source=""), "parameter orders"),
        (second("load_orders", "return load_orders.limit(1)"), "parameter load_orders"),
        (second("spark", "return spark.range(3)", ", depends_on='load_orders'"), "depends_on"),
        (second("", 'return "SELECT 1 AS id"', ", depends_on=[load_orders]"), "depends_on"),
    ],
)
def test_how_a_dependency_is_known(project, pipeline, expected):
    [(upstream, why)] = after(project, pipeline)
    assert upstream == "load_orders"
    assert why.startswith(expected)


@pytest.mark.parametrize(
    "pipeline",
    [
        second("", 'return "SELECT id FROM orders"', source="app"),  # another database's orders
        second("", 'return "SELECT id FROM other.orders"'),
        second("", 'return "WITH orders AS (SELECT 1 AS id) SELECT id FROM orders"'),
        second("", 'return "SELECT id FROM shop.orders"', ", depends_on=[]"),
        second("", 'return "SELECT id FROM shop.totals"'),  # its own table
    ],
)
def test_what_is_no_dependency(project, pipeline):
    assert after(project, pipeline) == []


def test_a_broken_query_breaks_only_its_own_plan(project):
    project.declare(HEAD + second("", "return 1 / 0"))
    flow = project.flow()
    assert flow.order(()) == ("load_orders", "second")
    with pytest.raises(Exception, match="ZeroDivisionError"):
        flow.plan("second")


@pytest.mark.proves("dag")
def test_a_circle_shows_every_line_and_how_it_is_known(project):
    project.declare(
        HEAD.replace('target_connection="house")', 'target_connection="house", depends_on="third")')
        + second("", 'return "SELECT id FROM shop.orders"')
        + second("second", "return second")
        .replace("def second", "def third")
        .replace("target=Totals", "target='shop.third'")
    )
    with pytest.raises(DeclarationError) as caught:
        project.flow().order(())
    text = str(caught.value)
    for line in ("load_orders (", "second (", "third (", "reads shop.orders", "parameter second"):
        assert line in text
    assert text.count("pipelines.py:") >= 4
