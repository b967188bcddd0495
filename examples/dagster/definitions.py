"""Two Dagster assets, each made by a pipeline; `dagster dev -f definitions.py` shows them."""

from dagster import Definitions, MaterializeResult, RetryPolicy, asset
from pipelines import daily_sales, load_orders


@asset(retry_policy=RetryPolicy(max_retries=2))
def orders() -> MaterializeResult:
    """The shop's orders in the warehouse."""
    run = load_orders.sync()
    return MaterializeResult(metadata={"run_id": run.run_id, "rows": run.rows.inserted})


@asset(deps=[orders])
def sales() -> MaterializeResult:
    """Orders and revenue of each day."""
    run = daily_sales.sync()
    return MaterializeResult(metadata={"run_id": run.run_id, "rows": run.rows.inserted})


definitions = Definitions(assets=[orders, sales])
