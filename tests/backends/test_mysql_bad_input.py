"""What goes wrong with MySQL while rows are written: a clear error, nothing half-written."""

from __future__ import annotations

import threading

import pytest

from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import Connection
from ematix_flow.errors import ContractError, DatabaseBusy, TargetError, TargetUnreachable
from ematix_flow.spec.modes import Mode
from ematix_flow.spec.pipeline import WriteOptions
from tests.backends.mode_bench import TABLE, Bench, row

pytestmark = pytest.mark.services


@pytest.fixture
def target(mysql_config, tmp_path):
    connection = Connection.from_config("out", mysql_config, base=tmp_path)
    return backends()["mysql"].target(connection)


@pytest.mark.proves("bad-database", "retryable", "nothing-half-written")
def test_a_connection_that_is_cut_can_be_tried_again(target):
    def write_and_be_cut():
        with target.open() as killer, target.open() as session:
            session.execute("CREATE TABLE t (a INT)")
            [[number]] = session.fetch("SELECT connection_id()")
            with session.transaction():
                session.execute("INSERT INTO t VALUES (1)")
                killer.execute(f"KILL {number}")
                session.execute("INSERT INTO t VALUES (2)")

    with pytest.raises(TargetUnreachable) as told:
        write_and_be_cut()
    assert told.value.retryable
    with target.open() as session:
        assert session.fetch("SELECT count(*) FROM t") == [(0,)]


@pytest.mark.proves("bad-database", "retryable", "nothing-half-written")
def test_a_deadlock_can_be_tried_again(target):
    with target.open() as session:
        session.execute("CREATE TABLE t (a INT PRIMARY KEY, b INT)")
        session.execute("INSERT INTO t VALUES (1, 0), (2, 0)")
    both_hold = threading.Barrier(2, timeout=30)
    told = []

    def cross(first, second):
        try:
            with target.open() as session, session.transaction():
                session.execute(f"UPDATE t SET b = {first} WHERE a = {first}")
                both_hold.wait()
                session.execute(f"UPDATE t SET b = {first} WHERE a = {second}")
        except DatabaseBusy as error:
            told.append(error)

    threads = [threading.Thread(target=cross, args=pair) for pair in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    [error] = told
    assert error.retryable
    with target.open() as session:
        [(one,), (other,)] = session.fetch("SELECT b FROM t")
    assert one == other != 0, "all of one run's changes, none of the other's"


def run(target, *statements):
    with target.open() as session:
        for each in statements:
            session.execute(each)


@pytest.mark.proves("bad-database")
def test_a_time_limit_of_the_server_is_told(target):
    with pytest.raises(TargetError, match="gave up"):
        run(
            target,
            "SET SESSION max_statement_time = 0.2",
            "CREATE TABLE t (a BIGINT)",
            "INSERT INTO t SELECT a.seq FROM seq_1_to_100000 AS a, seq_1_to_100000 AS b",
        )


@pytest.mark.proves("bad-database")
def test_a_server_without_room_is_told(target):
    with pytest.raises(TargetError, match="has no room left") as told:
        run(
            target,
            "SET SESSION max_heap_table_size = 16384",
            "CREATE TEMPORARY TABLE t (a CHAR(200)) ENGINE = MEMORY",
            "INSERT INTO t SELECT seq FROM seq_1_to_100000",
        )
    assert "free some space" in str(told.value)


@pytest.mark.proves("bad-database", "nothing-half-written")
def test_a_row_that_does_not_fit_is_named_and_none_is_kept(target, tmp_path):
    table = Bench(target, tmp_path, TABLE, WriteOptions(mode=Mode.MERGE))
    table.load([row("1", x="kept")])
    with pytest.raises((ContractError, TargetError), match=r"k{21}"):
        table.load([row("2"), row("k" * 21)])
    assert [a for (a,) in table.rows("a")] == ["1"]
