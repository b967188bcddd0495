"""One Spark session for all of these tests, built the way a run builds it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ematix_flow.engine.choice import choose
from ematix_flow.engine.host.machine import this_machine
from ematix_flow.engine.opening import open_engine
from ematix_flow.engine.spark.sizing import size


# Not longer than these tests: while it is held, no other engine can be opened in the process.
@pytest.fixture(scope="package")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A classic session with 2 shuffle partitions."""
    sizing = size(this_machine(), 0, {"spark.sql.shuffle.partitions": "2"})
    state = tmp_path_factory.mktemp("spark-state")
    with open_engine(choose("local", {}, None), sizing=sizing, state_dir=state) as engine:
        yield engine.session


@pytest.fixture(autouse=True)
def _through_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows go through Spark here, also those that could do without."""
    monkeypatch.setenv("EMATIX_FLOW_DIRECT_UP_TO", "0")
