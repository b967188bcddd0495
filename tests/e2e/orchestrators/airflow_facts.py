"""Run by an environment with Airflow, in a copy of examples/airflow: what its DAG is and does."""

import json
import sys

sys.path.insert(0, ".")

from airflow.utils.state import DagRunState
from dag import shop_dag

done = shop_dag.test()
assert done.state == DagRunState.SUCCESS, done.state
print(  # noqa: T201  # read by the test
    json.dumps(
        {
            "tasks": {task.task_id: sorted(task.downstream_task_ids) for task in shop_dag.tasks},
            "loaded": {
                each.task_id: each.xcom_pull(task_ids=each.task_id)
                for each in done.get_task_instances()
            },
        }
    )
)
