"""Every TPC-H and TPC-DS query, in DuckDB's dialect: Spark and Sail answer what DuckDB answered."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest

from ematix_flow.engine.choice import choose
from ematix_flow.engine.host.machine import this_machine
from ematix_flow.engine.opening import open_engine
from ematix_flow.engine.spark.sizing import size
from tests.tpc.answers import difference, expected_rows, order_columns
from tests.tpc.data import COUNTS, benchmark
from tests.tpc.translation import to_spark

ENGINE = os.environ.get("EMATIX_FLOW_ENGINE", "local")
QUERIES = [(name, number) for name, count in COUNTS.items() for number in range(1, count + 1)]

pytestmark = [pytest.mark.slow, pytest.mark.every_engine]


@pytest.fixture(scope="module")
def tally(request: pytest.FixtureRequest) -> Iterator[Counter[str]]:
    """Count what was compared, and say it at the end: an empty answer proves little."""
    counts: Counter[str] = Counter()
    yield counts
    said = "; ".join(f"{name} {counts[name]}" for name in sorted(counts))
    with request.config.pluginmanager.get_plugin("capturemanager").global_and_fixture_disabled():
        print(f"\nTPC on {ENGINE} as on DuckDB: {said}")  # noqa: T201  # pytest shows it


@pytest.fixture(scope="module")
def session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[object]:
    """A session whose views nobody else sees."""
    if ENGINE == "local":
        yield request.getfixturevalue("spark").newSession()
        return
    sizing, state = size(this_machine(), 0, {}), tmp_path_factory.mktemp("state")
    with open_engine(choose(ENGINE, {}, None), sizing=sizing, state_dir=state) as engine:
        yield engine.session


# Both have a table `customer`, so the views of one replace those of the other.
@pytest.fixture(scope="module")
def data(request: pytest.FixtureRequest, session):
    """One benchmark, its tables as views."""
    chosen = benchmark(request.param)
    for table in chosen.columns:
        session.read.parquet(str(chosen.table_file(table))).createOrReplaceTempView(table)
    return chosen


@pytest.mark.proves("tpc")
@pytest.mark.parametrize(("data", "number"), QUERIES, indirect=["data"])
def test_the_answer_is_duckdbs(session, tally, data, number):
    answer, query = data.answer(number), data.query(number)
    translated = to_spark(query, where=f"{data.name} {number}")
    rows = [tuple(row) for row in session.sql(translated).collect()]
    order = order_columns(query, answer["names"])
    assert difference(rows, expected_rows(answer), order) == ""
    tally[f"{data.name} queries"] += 1
    tally[f"{data.name} queries with an empty answer"] += not rows
    tally[f"{data.name} rows"] += len(rows)
