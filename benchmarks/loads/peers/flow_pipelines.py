"""Load with this repository's ematix_flow: the project that `flow run load_orders` runs.

LOAD_MODE, LOAD_KIND and LOAD_PATH say which of the contest's loads it is.
"""

from __future__ import annotations

import os
from typing import Annotated

from ematix_flow import (
    UUID,
    BigInt,
    Boolean,
    Date,
    Double,
    Integer,
    Numeric,
    String,
    Text,
    Timestamp,
    TimestampTZ,
    ematix,
    pk,
)

MODE = os.environ["LOAD_MODE"]
PATH = os.environ["LOAD_PATH"]
# In the database: source and target are one connection, and nothing leaves it.
SOURCE = "warehouse" if PATH == "in_database" else "app"


@ematix.connection
class app:  # noqa: N801  # named like a thing
    kind = "postgres"
    url = "${LOAD_SOURCE}"


if os.environ["LOAD_KIND"] == "duckdb":

    @ematix.connection
    class warehouse:  # noqa: N801
        kind = "duckdb"
        path = "${LOAD_TARGET}"

else:

    @ematix.connection
    class warehouse:  # noqa: N801
        kind = "postgres"
        url = "${LOAD_TARGET}"


@ematix.table(schema="mart")
class Orders:
    id: Annotated[BigInt, pk()]
    customer: Text
    country: String[2]
    amount: Numeric[12, 2]
    score: Double
    active: Boolean
    day: Date
    placed_at: Timestamp
    updated_at: TimestampTZ
    quantity: Integer
    note: Text | None
    reference: UUID


@ematix.table(schema="mart")
class WarmUp(Orders):
    """What a warm engine has loaded before it is measured."""


@ematix.pipeline(
    target=Orders,
    mode=MODE,
    source_connection=SOURCE,
    target_connection="warehouse",
    force_path=PATH,
)
def load_orders() -> str:
    return "SELECT * FROM orders"


@ematix.pipeline(
    target=WarmUp,
    mode="append",
    source_connection=SOURCE,
    target_connection="warehouse",
    force_path="spark",
)
def warm_up() -> str:
    return "SELECT * FROM orders"
