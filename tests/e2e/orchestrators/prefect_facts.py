"""Run by an environment with Prefect, in a copy of examples/prefect: what its flow is and does."""

import json
import sys

sys.path.insert(0, ".")

from prefect.testing.utilities import prefect_test_harness
from shop_flow import orders, shop_flow

with prefect_test_harness(server_startup_timeout=200):
    print(  # noqa: T201  # read by the test
        json.dumps(
            {
                "tasks": [shop_flow.name, orders.name, orders.retries],
                "loaded": {"busiest_days": shop_flow()},
            }
        )
    )
