"""Load with ematix-flow 1.0, as its documentation shows: `pipeline.sync` between two connections.

    python ematix_flow_1.py MODE

Runs in an environment of its own; LOAD_SOURCE and LOAD_TARGET are the databases.
"""

from __future__ import annotations

import json
import os
import sys

from ematix_flow.source import Source
from ematix_flow.table import ManagedTable
from ematix_flow.types import (
    UUID,
    BigInt,
    Boolean,
    Column,
    Date,
    Double,
    Integer,
    Numeric,
    String,
    Text,
    Timestamp,
    TimestampTZ,
)

from ematix_flow import connect, pipeline


class Orders(ManagedTable):
    __schema__ = "mart"
    __tablename__ = "orders"

    id = Column(BigInt(), nullable=False, primary_key=True)
    customer = Column(Text(), nullable=False)
    country = Column(String(2), nullable=False)
    amount = Column(Numeric(12, 2), nullable=False)
    score = Column(Double(), nullable=False)
    active = Column(Boolean(), nullable=False)
    day = Column(Date(), nullable=False)
    placed_at = Column(Timestamp(), nullable=False)
    updated_at = Column(TimestampTZ(), nullable=False)
    quantity = Column(Integer(), nullable=False)
    note = Column(Text())
    reference = Column(UUID(), nullable=False)


def main() -> None:
    result = pipeline.sync(
        target=Orders,
        source=Source.postgres_table(
            connect("app", url=os.environ["LOAD_SOURCE"]), "public", "orders"
        ),
        target_connection=connect("warehouse", url=os.environ["LOAD_TARGET"]),
        mode=sys.argv[1],
        pipeline_name="load_orders",
    )
    print(json.dumps(result, default=str))


if __name__ == "__main__":
    main()
