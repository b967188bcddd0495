"""Two attempts at one task, at the same time, into the staging table of a server."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import Connection
from ematix_flow.ports import StagedTable
from ematix_flow.spec.arrow_type import arrow_type
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.pipeline import WriteOptions
from tests.backends.mode_bench import TABLE, Bench, row

pytestmark = pytest.mark.services

ROWS = 1000
NAME = "_flow_staging_x_1"


@pytest.fixture(params=["postgres", "mysql"])
def table(request, tmp_path):
    """A table in a database that tasks send their rows to."""
    config = request.getfixturevalue(f"{request.param}_config")
    connection = Connection.from_config("out", config, base=tmp_path)
    target = backends()[connection.kind].target(connection)
    return Bench(target, tmp_path, TABLE, WriteOptions(mode=Mode.MERGE))


@pytest.fixture
def send(table):
    """Let attempts of these names send the same rows, each half when all have sent the other."""
    rows = table.layout.staging
    staging = table.target.staging_table(NAME, rows)
    staging.create()
    schema = pa.schema([(each.name, arrow_type(each.type)) for each in rows.columns])

    def attempt(name, meet):
        def batches():
            for half in range(2):
                given = [row(f"{half}-{n}", n=n) for n in range(ROWS)]
                yield pa.RecordBatch.from_pylist(given, schema=schema)
                meet.wait(30)

        # As a task has it: sent there.
        pickle.loads(pickle.dumps(staging.loader()))(batches(), name)

    def run(*names):
        meet = threading.Barrier(len(names))
        with ThreadPoolExecutor(len(names)) as pool:
            list(pool.map(attempt, names, [meet] * len(names)))

    yield run
    staging.drop()


def loaded(table, *tasks, monkeypatch):
    """Commit what these attempts have sent."""
    staged = StagedTable(name=NAME, tasks=tasks, rows=2 * ROWS * len(tasks))
    monkeypatch.setattr(table, "staged", lambda *_: staged)
    return table.load([])


@pytest.mark.proves("attempts-once")
@pytest.mark.parametrize("winner", ["0.0", "0.1"])
def test_two_attempts_at_once_count_once(table, send, winner, monkeypatch):
    send("0.0", "0.1")
    with table.target.open() as session:
        assert session.fetch(f"SELECT count(*) FROM {NAME}") == [(4 * ROWS,)]
    assert loaded(table, winner, monkeypatch=monkeypatch).rows.inserted == 2 * ROWS
    assert len(table.rows("a")) == 2 * ROWS


@pytest.mark.proves("attempts-once", "nothing-half-written")
def test_an_attempt_that_dies_beside_another_leaves_nothing(table, send, monkeypatch):
    """The engine ends the slower of two: what it had sent must be gone, and hold nobody up."""
    rows = table.layout.staging
    schema = pa.schema([(each.name, arrow_type(each.type)) for each in rows.columns])
    loader = table.target.staging_table(NAME, rows).loader()

    def ended():
        yield pa.RecordBatch.from_pylist([row(f"lost-{n}") for n in range(ROWS)], schema=schema)
        send("0.1")
        raise InterruptedError("another attempt was quicker")

    with pytest.raises(Exception, match="another attempt was quicker"):
        loader(ended(), "0.0")
    with table.target.open() as session:
        assert session.fetch(f"SELECT count(*) FROM {NAME}") == [(2 * ROWS,)]
    assert loaded(table, "0.1", monkeypatch=monkeypatch).rows.inserted == 2 * ROWS
