"""A small shop: its own database is SQLite, its warehouse DuckDB.

Five pipelines, each keeping its table in the way that suits it. All of them can be run at any
time and as often as you like: what has landed does not land twice.
"""

from typing import Annotated

from ematix_flow import BigInt, Date, Integer, Numeric, Text, Timestamp, ematix, pk


@ematix.connection
class shop:
    kind = "sqlite"
    path = "data/shop.db"


@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "results/warehouse.duckdb"


@ematix.table
class Products:
    product_id: Annotated[BigInt, pk()]
    title: Text
    category: Text
    price: Numeric[10, 2]


@ematix.table
class Customers:
    customer_id: Annotated[BigInt, pk()]
    name: Text
    email: Text
    city: Text | None


@ematix.table
class CustomerHistory:
    customer_id: Annotated[BigInt, pk()]
    name: Text
    city: Text | None


@ematix.table
class Orders:
    order_id: Annotated[BigInt, pk()]
    customer_id: BigInt
    product_id: BigInt
    quantity: Integer
    unit_price: Numeric[10, 2]
    placed_at: Timestamp


@ematix.table
class DailyRevenue:
    day: Annotated[Date, pk()]
    category: Annotated[Text, pk()]
    orders: BigInt
    revenue: Numeric[18, 2]


@ematix.pipeline(target=Products, mode="merge", source_connection=shop, target_connection=warehouse)
def products():
    """One row per product: new ones are added, changed ones updated."""
    return "SELECT id AS product_id, title, category, price FROM products"


@ematix.pipeline(
    target=Customers,
    mode="merge",
    handle_deletes="hard",
    source_connection=shop,
    target_connection=warehouse,
)
def customers():
    """One row per customer, and none for those who are gone."""
    return "SELECT id AS customer_id, name, email, city FROM customers"


@ematix.pipeline(
    target=CustomerHistory,
    mode="scd2",
    event_timestamp_column="happened_at",
    apply_as_deletes="what = 'left'",
    incremental_column="entry",
    source_connection=shop,
    target_connection=warehouse,
)
def customer_history():
    """One row per version of a customer, even of those that come late."""
    return "SELECT entry, customer_id, name, city, what, happened_at FROM customer_log"


@ematix.pipeline(
    target=Orders,
    mode="append",
    incremental_column="order_id",
    source_connection=shop,
    target_connection=warehouse,
)
def orders():
    """Orders never change, so only those above the last committed number are read."""
    return """
        SELECT id AS order_id, customer_id, product_id, quantity, unit_price, placed_at
        FROM orders
    """


@ematix.pipeline(
    target=DailyRevenue,
    mode="merge",
    source_connection=warehouse,
    target_connection=warehouse,
)
def daily_revenue():
    """The sum of each day and category; only sums that changed are written."""
    return """
        SELECT CAST(placed_at AS DATE) AS day, category, count(*) AS orders,
               CAST(sum(quantity * unit_price) AS DECIMAL(18, 2)) AS revenue
        FROM orders JOIN products USING (product_id)
        GROUP BY 1, 2
    """


ematix.workflow("shop_day", [products, customers, customer_history, orders, daily_revenue])
