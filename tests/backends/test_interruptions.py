"""Ctrl-C while somebody else holds what a session waits for: it is heard, and nothing is kept."""

from __future__ import annotations

import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from ematix_flow.backends.impl.sqlite.write import SqliteTarget
from tests.backends.test_commit import target_of
from tests.services.mysql_family import connect
from tests.services.polling import until

SECONDS = 20


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def interrupted(waits: Callable[[], bool]) -> Iterator[None]:
    """Interrupt the block once it *waits*, as Ctrl-C does."""
    main, seen = threading.main_thread().ident, []
    assert main is not None
    before = signal.signal(signal.SIGUSR1, _interrupt)

    def send() -> None:
        seen.append(until(waits, seconds=SECONDS))
        signal.pthread_kill(main, signal.SIGUSR1)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
        thread.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [True]


@pytest.mark.services
def test_what_waits_in_mysql_ends_there_and_keeps_no_lock(mysql_config, mariadb_database, tmp_path):
    target = target_of(mysql_config, tmp_path)
    with target.open() as session:
        for table in ("ours", "theirs"):
            session.execute(f"CREATE TABLE {table} (id INT PRIMARY KEY) ENGINE=InnoDB")
            session.execute(f"INSERT INTO {table} VALUES (1)")
    server, database = mariadb_database.server, mariadb_database.name

    def waits() -> bool:
        with closing(connect(server, database=database)) as looking, looking.cursor() as cursor:
            return bool(
                cursor.execute(
                    "SELECT 1 FROM information_schema.PROCESSLIST "
                    "WHERE DB = DATABASE() AND INFO LIKE 'UPDATE theirs%'"
                )
            )

    with closing(connect(server, database=database)) as other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT * FROM theirs FOR UPDATE")
        with interrupted(waits), target.open() as session, session.transaction():
            session.execute("UPDATE ours SET id = 2")
            session.execute("UPDATE theirs SET id = 2")
        with target.open() as session:
            session.execute("SET SESSION innodb_lock_wait_timeout = 10")
            session.execute("UPDATE ours SET id = 3 WHERE id = 1")
            assert session.fetch("SELECT id FROM ours") == [(3,)]


def waits_in_sqlite() -> bool:
    """Tell whether the main thread is beginning a transaction."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and frame.f_code.co_name != "_block":
        frame = frame.f_back
    return frame is not None


@pytest.fixture
def sqlite_target(tmp_path):
    target = SqliteTarget(tmp_path / "out.db")
    with target.open() as session:
        session.execute("CREATE TABLE t (id)")
    return target


@contextmanager
def another_writer(target):
    """A connection that has begun to write."""
    connected = sqlite3.connect(target.path, isolation_level=None, check_same_thread=False)
    with closing(connected) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO t VALUES (1)")
        yield other


def test_who_waits_for_another_writer_of_sqlite_hears_it(sqlite_target):
    with another_writer(sqlite_target):
        began = time.monotonic()
        with interrupted(waits_in_sqlite), sqlite_target.open() as session, session.transaction():
            pass
        assert time.monotonic() - began < SECONDS


def test_who_waits_for_another_writer_of_sqlite_gets_its_turn(sqlite_target, monkeypatch):
    # So that it is we who wait, not SQLite.
    monkeypatch.setattr("ematix_flow.backends.impl.sqlite.database.MOMENT_SECONDS", 0.0)
    with another_writer(sqlite_target) as other:

        def end() -> None:
            until(waits_in_sqlite, seconds=SECONDS)
            other.execute("COMMIT")

        ending = threading.Thread(target=end)
        ending.start()
        with sqlite_target.open() as session, session.transaction():
            session.execute("INSERT INTO t VALUES (2)")
        ending.join()
    with sqlite_target.open() as session:
        assert session.fetch("SELECT id FROM t ORDER BY id") == [(1,), (2,)]
