"""Orders arrive as CSV, land in DuckDB, and are summed up per customer."""

from typing import Annotated

from ematix_flow import BigInt, Numeric, Text, Timestamp, ematix, pk


@ematix.connection
class landing:
    kind = "csv"
    path = "data"


@ematix.connection
class warehouse:
    kind = "duckdb"
    path = "warehouse.duckdb"


@ematix.table
class Orders:
    order_id: Annotated[BigInt, pk()]
    customer: Text
    amount: Numeric[10, 2]
    placed_at: Timestamp


@ematix.table
class CustomerTotals:
    customer: Annotated[Text, pk()]
    orders: BigInt
    amount: Numeric[18, 2]


@ematix.pipeline(
    target=Orders, mode="truncate", source_connection="landing", target_connection="warehouse"
)
def load_orders():
    return "SELECT order_id, customer, amount, placed_at FROM orders"


@ematix.pipeline(
    target=CustomerTotals,
    mode="truncate",
    source_connection="warehouse",
    target_connection="warehouse",
    depends_on=["load_orders"],
)
def customer_totals():
    return """
        SELECT customer, count(*) AS orders, CAST(sum(amount) AS DECIMAL(18, 2)) AS amount
        FROM orders
        GROUP BY customer
    """
