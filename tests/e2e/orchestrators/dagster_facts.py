"""Run by an environment with Dagster, in a copy of examples/dagster: what its assets are and do."""

import json
import sys

sys.path.insert(0, ".")

from dagster import materialize
from definitions import definitions, orders, sales

done = materialize([orders, sales])
assert done.success
graph = definitions.resolve_asset_graph()
print(  # noqa: T201  # read by the test
    json.dumps(
        {
            "tasks": {
                key.to_user_string(): sorted(
                    each.to_user_string() for each in graph.get(key).child_keys
                )
                for key in graph.get_all_asset_keys()
            },
            "loaded": {
                event.asset_key.to_user_string(): event.materialization.metadata["rows"].value
                for event in done.get_asset_materialization_events()
            },
        }
    )
)
