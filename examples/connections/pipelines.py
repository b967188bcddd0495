"""Connections from TOML and from a call; `flow connections list` shows both."""

from ematix_flow import BigInt, Numeric, Text, connect, ematix

warehouse = connect("warehouse", kind="duckdb", path="warehouse.duckdb")


@ematix.table
class Orders:
    order_id: BigInt
    country: Text
    amount: Numeric[10, 2]


@ematix.pipeline(
    target=Orders, mode="truncate", source_connection="landing", target_connection=warehouse
)
def load_orders():
    return "SELECT order_id, country, amount FROM orders"
