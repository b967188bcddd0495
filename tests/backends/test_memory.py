"""Databases in memory: named, shared by the threads of one process, gone with it."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from ematix_flow.backends.registry import backends, capabilities
from ematix_flow.connections.model import Connection
from ematix_flow.errors import FlowError, SourceMissing, TargetError
from ematix_flow.spec.table import TableName

T = TableName(name="t")


@pytest.fixture(params=["memory", "duckdb", "sqlite"])
def config(request):
    """A database in memory of each kind, of a name that no other test has."""
    name = uuid4().hex
    if request.param == "memory":
        return {"kind": "memory", "database": name}
    return {"kind": request.param, "path": f":memory:{name}"}


def opened(config, name="c"):
    connection = Connection.from_config(name, config)
    backend = backends()[connection.kind]
    return backend.target(connection), backend.reader(connection)


def filled(config, rows=1):
    target, reader = opened(config)
    with target.open() as session:
        session.execute("CREATE TABLE t (x BIGINT NOT NULL)")
        for number in range(rows):
            session.execute("INSERT INTO t VALUES (?)", (number,))
    return target, reader


def test_it_is_there_once_it_is_written_to(config, tmp_path):
    target, reader = opened(config)
    assert not target.exists()
    with pytest.raises(SourceMissing, match="nothing was written to it in this process"):
        reader.inspect(None)
    with pytest.raises(TargetError, match="there is no database"), target.open_read_only():
        pass
    filled(config)
    assert target.exists()
    assert reader.inspect("t").columns[0].name == "x"
    assert reader.inspect(None).size_bytes is None
    assert reader.spool("SELECT x FROM t", tmp_path).stat().st_size
    with target.open_read_only() as session:
        assert session.columns(T)[0].nullable is False


def test_one_name_is_one_database(config):
    filled(config)
    again, _ = opened(config, name="another")
    with again.open() as session:
        assert session.fetch("SELECT x FROM t") == [(0,)]


def test_a_path_without_a_name_belongs_to_its_connection():
    name = f"c{uuid4().hex}"
    filled_here, _ = opened({"kind": "duckdb", "path": ":memory:"}, name=name)
    with filled_here.open():
        pass
    assert opened({"kind": "duckdb", "path": f":memory:{name}"})[0].exists()
    assert not opened({"kind": "duckdb", "path": ":memory:"}, name="other")[0].exists()
    # Kinds do not share what happens to have one name.
    assert not opened({"kind": "sqlite", "path": ":memory:"}, name=name)[0].exists()
    assert not opened({"kind": "memory", "database": name})[0].exists()


def _empty_and_fail(session):
    with session.transaction():
        assert session.execute("DELETE FROM t") == 1
        session.execute("INSERT INTO t VALUES (NULL)")


def test_what_fails_is_rolled_back(config):
    target, _ = filled(config)
    with pytest.raises(FlowError, match="NOT NULL"), target.open() as session:
        _empty_and_fail(session)
    with target.open() as session:
        assert session.fetch("SELECT x FROM t") == [(0,)]


def test_temporary_tables_belong_to_their_session(config):
    target, _ = filled(config)
    with target.open() as one, target.open() as other:
        for session, value in ((one, 1), (other, 2)):
            session.execute("CREATE TEMP TABLE work (x INT)")
            session.execute("INSERT INTO work VALUES (?)", (value,))
        assert (one.fetch("SELECT x FROM work"), other.fetch("SELECT x FROM work")) == (
            [(1,)],
            [(2,)],
        )


@pytest.mark.proves("reader-sees-whole")
def test_readers_in_threads_see_the_old_rows_or_the_new_ones(config):
    target, _ = filled(config, rows=10)
    done = threading.Event()

    def look():
        seen = set()
        while not done.is_set():
            with target.open_read_only() as session:
                seen.add(session.fetch("SELECT count(*), count(DISTINCT x) FROM t")[0])
        return seen

    with ThreadPoolExecutor(max_workers=3) as threads:
        watching = [threads.submit(look) for _ in range(3)]
        for start in range(0, 200, 10):
            with target.open() as session, session.transaction():
                session.execute("DELETE FROM t")
                for number in range(start, start + 10):
                    session.execute("INSERT INTO t VALUES (?)", (number,))
        done.set()
        assert set().union(*(each.result() for each in watching)) == {(10, 10)}


VANISHED = """
from tests.backends.test_memory import opened
print(opened({config!r})[0].exists())
"""


def test_it_ends_with_its_process(config):
    filled(config)
    code = VANISHED.format(config=config)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_memory_can_do_what_its_database_can():
    known = capabilities()
    assert (known["memory"].kind, known["memory"].dialect) == ("memory", "duckdb")
    assert known["memory"].support == known["duckdb"].support
