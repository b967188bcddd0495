"""A Prefect flow of two tasks: a declared pipeline, and a load that is written where it runs."""

from pipelines import Sales, load_orders, shop, warehouse
from prefect import flow, task

from ematix_flow import pipeline


@task(retries=2)
def orders() -> int:
    return load_orders.sync().rows.inserted


@task
def busiest_days() -> int:
    run = pipeline.sync(
        name="busiest_days",
        target=Sales,
        source="""
            SELECT date(placed_at) AS day, count(*) AS orders,
                   printf('%.2f', sum(cents) / 100.0) AS revenue
            FROM orders GROUP BY 1 HAVING count(*) > 1
        """,
        source_connection=shop,
        target_connection=warehouse,
        mode="truncate",
    )
    return run.rows.inserted


@flow
def shop_flow() -> int:
    loaded = orders()
    return busiest_days(wait_for=[loaded])


if __name__ == "__main__":
    shop_flow()
