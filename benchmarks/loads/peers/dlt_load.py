"""Load with dlt: Arrow tables from the source, Parquet through ADBC into the target.

    python dlt_load.py MODE postgres|duckdb [arrow]

The rows come from dlt's own source of SQL tables with its pyarrow backend; with `arrow`, from a
resource written by hand that reads with ADBC. LOAD_SOURCE and LOAD_TARGET are the databases,
the latter a file where it is DuckDB. Runs in an environment of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Nothing leaves the machine while it is measured; read when dlt is imported.
os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
os.environ["RUNTIME__LOG_LEVEL"] = "ERROR"

import dlt
from dlt.sources.helpers.transform import add_row_hash_to_table
from dlt.sources.sql_database import sql_table

CHUNK = 100_000
DISPOSITIONS = {
    "append": "append",
    "merge": {"disposition": "merge", "strategy": "upsert"},
    "scd2": {"disposition": "merge", "strategy": "scd2", "row_version_column_name": "row_hash"},
}


def main() -> None:
    mode, kind = sys.argv[1:3]
    where = os.environ["LOAD_TARGET"]
    resource = arrow_source(mode) if "arrow" in sys.argv[3:] else own_source(mode)
    if mode == "scd2":
        resource.add_map(add_row_hash_to_table("row_hash"))
    pipeline = dlt.pipeline(
        "load_orders",
        destination=getattr(dlt.destinations, kind)(where),
        dataset_name="mart",
        pipelines_dir=str(Path("pipelines").absolute()),
    )
    done = pipeline.run(resource, loader_file_format="parquet")
    done.raise_on_failed_jobs()


def own_source(mode: str) -> Any:
    return sql_table(
        os.environ["LOAD_SOURCE"].replace("postgresql:", "postgresql+psycopg2:", 1),
        table="orders",
        schema="public",
        backend="pyarrow",
        chunk_size=CHUNK,
        reflection_level="full_with_precision",
        write_disposition=DISPOSITIONS[mode],
    )


def arrow_source(mode: str) -> Any:
    return dlt.resource(
        batches,
        name="orders",
        primary_key="id",
        write_disposition=DISPOSITIONS[mode],
        # ADBC brings numeric as text, and says so only in the field's metadata.
        columns={"amount": {"data_type": "decimal", "precision": 12, "scale": 2}},
    )


def batches() -> Iterator[Any]:
    import adbc_driver_postgresql.dbapi as adbc
    import pyarrow as pa

    # dlt knows no Arrow type of UUIDs.
    query = """SELECT id, customer, country, amount, score, active, day, placed_at, updated_at,
                      quantity, note, reference::text AS reference FROM orders"""
    with adbc.connect(os.environ["LOAD_SOURCE"]) as source, source.cursor() as cursor:
        cursor.execute(query)
        for batch in cursor.fetch_record_batch():
            table = pa.Table.from_batches([batch])
            place = table.schema.get_field_index("amount")
            amount = table["amount"].cast(pa.decimal128(12, 2))
            yield table.set_column(place, "amount", amount)


if __name__ == "__main__":
    main()
