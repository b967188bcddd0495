"""Runs whose rows come from a list: everything but Spark's part of a run is real.

So that what happens around a run (leases, crashes, pauses) can be tested quickly and often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq

from ematix_flow.api.engines import Engines
from ematix_flow.ports import StagedFiles
from ematix_flow.spec.contract import RULE_COLUMN, VALUE_COLUMN
from ematix_flow.spec.layout import CURSOR

Rows = Sequence[Mapping[str, object]]
ORDERS: Rows = ({"order_id": 1, "customer": "ada"}, {"order_id": 2, "customer": "grace"})

# It can no more than Sail can.
_REPORT = SimpleNamespace(engine="sail", notes=(), to_json=lambda: {"engine": "none"})
_ENGINE = SimpleNamespace(session=None, report=_REPORT)


@contextmanager
def loading_without_spark(rows: Rows | Callable[[Any], Rows] = ORDERS) -> Iterator[None]:
    """Let runs of the block stage *rows* (or what they return for a window)."""
    window: list[Any] = [None]

    def restrict(frame: object, given: Any, where: object) -> object:
        del where
        window[0] = given
        return frame

    def rows_of(*_: object, **__: object) -> object:
        return "a frame"

    def stage(frame: object, folder: Any, contract: Any, **_: object) -> StagedFiles:
        del frame
        chosen = rows(window[0]) if callable(rows) else rows
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "part-0.parquet"
        helpers = [CURSOR] if callable(rows) else []
        names = [*contract.table.column_names, *helpers, RULE_COLUMN, VALUE_COLUMN]
        kinds = {RULE_COLUMN: pa.int32(), VALUE_COLUMN: pa.string()}
        columns = [
            pa.array([row.get(name) for row in chosen], kinds.get(name) or _kind(chosen, name))
            for name in names
        ]
        pq.write_table(pa.table(columns, names=names), file)
        return StagedFiles(files=(file,), rows=len(chosen))

    with ExitStack() as patched:
        opener = lambda *_: lambda: nullcontext(_ENGINE)  # noqa: E731
        patched.enter_context(patch.object(Engines, "opener", opener))
        for name, stand_in in (
            ("engine.batch.frame_steps.read", rows_of),
            ("engine.batch.frame_steps.run_query", rows_of),
            ("engine.batch.frame_steps.judge", rows_of),
            ("transform.shape.arrange", rows_of),
            ("transform.shape.restrict", restrict),
            ("engine.batch.loading.stage", stage),
        ):
            patched.enter_context(patch(f"ematix_flow.{name}", stand_in))
        yield


def numbered(*numbers: int) -> Callable[[Any], Rows]:
    """Orders with these numbers, of which a run gets those in its window."""

    def chosen(window: Any) -> Rows:
        return [
            {"order_id": n, "customer": f"c{n}", CURSOR: f"integer:{10**19 + n:020d}"}
            for n in numbers
            if window is None or all(_holds(n, bound) for bound in window.bounds)
        ]

    return chosen


def _holds(number: int, bound: Any) -> bool:
    value = int(bound.cursor.value)
    return {
        ">": number > value,
        ">=": number >= value,
        "<": number < value,
        "<=": number <= value,
    }[bound.operator]


def _kind(rows: Rows, name: str) -> pa.DataType:
    values = [row.get(name) for row in rows]
    numbers = values and all(isinstance(each, int) for each in values)
    return pa.int64() if numbers else pa.string()
