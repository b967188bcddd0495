"""A small shop: customers in its database, products and orders as files, one report."""

from typing import Annotated

from ematix_flow import BigInt, Numeric, String, Text, Timestamp, ematix, natural_key, pk


@ematix.connection
class app:
    kind = "sqlite"
    path = "data/app.db"


@ematix.connection
class landing:
    kind = "csv"
    path = "data"


@ematix.connection
class catalog:
    kind = "parquet"
    path = "data"


@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "results/warehouse.duckdb"


@ematix.connection
class reports:
    kind = "sqlite"
    path = "results/reports.db"


@ematix.table(schema="shop")
class Customers:
    customer_id: Annotated[BigInt, pk()]
    email: Annotated[Text, natural_key()]
    country: String[2] | None


@ematix.table(schema="shop")
class Products:
    product_id: Annotated[BigInt, pk()]
    title: Text
    price: Numeric[10, 2]


@ematix.table(schema="shop")
class Orders:
    order_id: Annotated[BigInt, pk()]
    customer_id: BigInt
    product_id: BigInt
    quantity: BigInt
    placed_at: Timestamp


@ematix.table
class RevenueByCountry:
    country: Annotated[Text, pk()]
    customers: BigInt
    orders: BigInt
    revenue: Numeric[18, 2]


@ematix.pipeline(
    target=Customers, mode="truncate", source_connection="app", target_connection="warehouse"
)
def load_customers():
    """The shop's own database: the query runs in it."""
    return "SELECT id AS customer_id, lower(trim(email)) AS email, country FROM customers"


@ematix.pipeline(
    target=Products, mode="truncate", source_connection="catalog", target_connection="warehouse"
)
def load_products():
    """Parquet files: the query runs on Spark."""
    return "SELECT product_id, title, price FROM products"


@ematix.pipeline(
    target=Orders, mode="append", source_connection="landing", target_connection="warehouse"
)
def load_orders():
    """CSV files: every value is checked against the declared types."""
    return "SELECT order_id, customer_id, product_id, quantity, placed_at FROM orders"


@ematix.pipeline(
    target=RevenueByCountry,
    mode="truncate",
    source_connection="warehouse",
    target_connection="reports",
    depends_on=["load_customers", "load_products", "load_orders"],
)
def revenue_by_country():
    """The report, after all it depends on."""
    return """
        SELECT coalesce(c.country, '??') AS country,
               count(DISTINCT c.customer_id) AS customers,
               count(*) AS orders,
               CAST(sum(o.quantity * p.price) AS DECIMAL(18, 2)) AS revenue
        FROM shop.orders o
        JOIN shop.customers c USING (customer_id)
        JOIN shop.products p USING (product_id)
        GROUP BY 1
    """
