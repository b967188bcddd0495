"""An Airflow DAG of two tasks; each runs one pipeline.

A task that Airflow kills and tries again takes up the run that died: rows that had landed are
not loaded twice.
"""

from contextlib import chdir
from pathlib import Path

import pendulum
from airflow.sdk import dag, task

# Where the databases, the TOML and the run history are; a worker starts anywhere.
PROJECT = Path(__file__).parent


@dag(
    schedule="0 2 * * *",
    start_date=pendulum.datetime(2026, 3, 1, tz="UTC"),
    catchup=False,
    default_args={"retries": 2},
)
def shop():
    @task
    def orders() -> int:
        # Imported by the task, so that parsing the DAG stays cheap.
        from pipelines import load_orders

        with chdir(PROJECT):
            return load_orders.sync().rows.inserted

    @task
    def sales() -> int:
        from pipelines import daily_sales

        with chdir(PROJECT):
            return daily_sales.sync().rows.inserted

    orders() >> sales()


shop_dag = shop()
