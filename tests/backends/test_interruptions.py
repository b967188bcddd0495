"""Ctrl-C while somebody else holds what a session waits for: it is heard, and nothing is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

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
