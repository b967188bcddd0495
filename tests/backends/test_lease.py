"""The lease and the ledger on real databases, from the driver: no JVM."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ematix_flow._base.clock import iso
from ematix_flow.errors import FenceLost, PipelineBusy
from ematix_flow.ports import LedgerEntry
from ematix_flow.spec.counts import RowCounts
from ematix_flow.sqltext.bookkeeping import FENCE, LEDGER, bookkeeping
from ematix_flow.sqltext.ddl import create_table
from ematix_flow.write.fence import (
    Claim,
    hold_fence,
    release_lease,
    renew_lease,
    take_fence,
    take_lease,
)
from ematix_flow.write.holding import Holding
from ematix_flow.write.ledger import (
    entry_of_run,
    last_commit,
    moment_after,
    watermark_after,
    write_entry,
)
from ematix_flow.write.own_tables import ensure_own_tables
from tests.backends.test_commit import target, target_of  # noqa: F401  # fixtures

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MINE = Claim(pipeline="p", holder="box:/mine", run_id="r1", ttl=timedelta(seconds=60))
THEIRS = replace(MINE, holder="far:/theirs", run_id="r2")
OVER = timedelta(milliseconds=-1)


@pytest.fixture(params=["postgres", "mysql"])
def server(request, tmp_path):
    """A database that gives leases by its own clock."""
    return target_of(request.getfixturevalue(f"{request.param}_config"), tmp_path)


@pytest.fixture
def sql(server):
    with server.open() as session:
        ensure_own_tables(session, bookkeeping(server.dialect))
    return bookkeeping(server.dialect)


@pytest.mark.proves("one-lease")
@pytest.mark.services
def test_one_holds_the_lease_and_the_other_is_told_all_about_it(server, sql):
    with server.open() as session:
        take_lease(session, sql, MINE)
        with pytest.raises(PipelineBusy) as caught:
            take_lease(session, sql, THEIRS)
    told = str(caught.value)
    assert "'p' is already running (by box:/mine, run r1, since 20" in told
    assert "its lease lasts until 20" in told
    assert "Hint: wait for that run to end; if it died, run again after 20" in told


@pytest.mark.services
def test_a_released_lease_is_free_and_a_lost_one_is_not_released_by_its_loser(server, sql):
    with server.open() as session:
        token = take_lease(session, sql, MINE)
        release_lease(session, sql, MINE, token)
        theirs = take_lease(session, sql, THEIRS)
        assert theirs == token + 1
        release_lease(session, sql, MINE, token)
        with pytest.raises(PipelineBusy):
            take_lease(session, sql, MINE)


@pytest.mark.proves("lost-lease")
@pytest.mark.services
def test_a_lease_that_is_over_is_taken_and_its_holder_can_neither_renew_nor_commit(server, sql):
    with server.open() as session:
        stale = take_lease(session, sql, replace(MINE, ttl=OVER))
        take_lease(session, sql, THEIRS)
        assert not renew_lease(session, sql, MINE, stale)
        with session.transaction(), pytest.raises(FenceLost, match="another run of 'p' took over"):
            hold_fence(session, sql, "p", stale)


@pytest.mark.services
def test_renewing_makes_it_last(server, sql):
    with server.open() as session:
        token = take_lease(session, sql, replace(MINE, ttl=OVER))
        assert renew_lease(session, sql, MINE, token)
        with pytest.raises(PipelineBusy):
            take_lease(session, sql, THEIRS)


@pytest.mark.services
def test_renewing_finds_its_row_though_it_leaves_it_as_it_was(server, sql):
    """MySQL's clock has whole seconds: two beats in one second write the same."""
    with server.open() as session:
        if server.dialect != "postgres":
            session.execute("SET TIMESTAMP = 1772323200")
        token = take_lease(session, sql, MINE)
        assert all(renew_lease(session, sql, MINE, token) for _ in range(2))


@pytest.mark.proves("lost-lease")
@pytest.mark.services
def test_who_commits_holds_the_fence_though_it_changes_nothing_of_it(server, sql):
    looked = "SELECT token FROM _flow_fence WHERE pipeline = 'p' FOR UPDATE NOWAIT"
    with server.open() as committing, server.open() as other:
        token = take_lease(committing, sql, MINE)
        with committing.transaction():
            hold_fence(committing, sql, "p", token)
            with pytest.raises(Exception, match=r"(?i)lock"), other.transaction():
                other.fetch(looked)
        with other.transaction():
            assert other.fetch(looked) == [(token,)]


@pytest.mark.services
def test_what_a_dead_run_of_this_project_left_is_taken_at_once(server, sql):
    """Whoever holds the project's own lease knows that no earlier run of it is alive."""
    with server.open() as session:
        dead = take_lease(session, sql, MINE)
        assert take_lease(session, sql, replace(MINE, run_id="r9")) == dead + 1


@pytest.mark.proves("one-lease")
@pytest.mark.services
def test_of_twenty_at_once_one_gets_it(server, sql):
    def start(number):
        claim = replace(MINE, holder=f"box{number}", run_id=f"r{number}")
        with server.open() as session:
            try:
                return take_lease(session, sql, claim)
            except PipelineBusy as busy:
                return busy

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(start, range(20)))
    assert [each for each in answers if not isinstance(each, PipelineBusy)] == [1]


@pytest.mark.services
def test_a_commit_in_progress_makes_nobody_wait(server, sql):
    with server.open() as committing, server.open() as other:
        token = take_lease(committing, sql, MINE)
        with committing.transaction():
            hold_fence(committing, sql, "p", token)
            with pytest.raises(PipelineBusy):
                take_lease(other, sql, THEIRS)


@pytest.mark.proves("lost-lease")
@pytest.mark.services
def test_the_heartbeat_of_a_run_renews_and_notices_a_takeover(server, sql):
    """Every pause of the heartbeat is a turn of the script."""
    turns = iter([lambda: None, lambda: expire(server), lambda: steal(server, sql), lambda: None])

    def pause(seconds):
        assert seconds == MINE.ttl.total_seconds() / 3
        turn = next(turns, None)
        if turn is not None:
            turn()
        return turn is None

    holding = Holding(claim=MINE, target=lambda _: server, notice=print, pause=pause)
    with holding:
        holding.take(["out"])
        heartbeat_ends()
        with pytest.raises(FenceLost):
            holding.require()
    with server.open() as session, pytest.raises(PipelineBusy, match="far:/theirs"):
        take_lease(session, sql, MINE)


def expire(server):
    """As if the holder had been paused past its lease; nobody came, so the next beat saves it."""
    with server.open() as session:
        session.execute("UPDATE _flow_fence SET lease_until = 0")


def steal(server, sql):
    expire(server)
    with server.open() as session:
        take_lease(session, sql, THEIRS)


def heartbeat_ends():
    for thread in threading.enumerate():
        if thread.name == "flow-heartbeat":
            thread.join(timeout=30)


def test_tables_of_an_earlier_version_get_what_they_lack(target):  # noqa: F811
    sql = bookkeeping(target.dialect)
    old = {
        FENCE: FENCE.columns[:2],
        LEDGER: tuple(each for each in LEDGER.columns if each.name not in _LATER),
    }
    with target.open() as session:
        for table, columns in old.items():
            session.execute(
                create_table(replace(table, columns=columns), table.name, target.dialect)
            )
        values = ("p", "t", 0, "r0", 0, None, None, "integer:1", 5, 2, "2026-01-01T00:00:00Z")
        marks = ", ".join("?" for _ in values)
        names = ", ".join(each.name for each in old[LEDGER])
        session.execute(f"INSERT INTO _flow_ledger ({names}) VALUES ({marks})", values)
        # What was there can be read before anything is changed.
        found = entry_of_run(session, sql, "p", "t", "r0")
        assert found.rows == RowCounts(inserted=5, deleted=2)
        for _ in range(2):
            ensure_own_tables(session, sql)
        assert entry_of_run(session, sql, "p", "t", "r0") == found
        take_fence(session, sql, "p")
        entry = written(session, sql, "r1", rows=RowCounts(read=9, updated=4, closed=1))
        assert last_commit(session, sql, "p", "t") == entry


_LATER = ("rows_read", "rows_updated", "rows_unchanged", "rows_closed", "rows_quarantined")


def written(session, sql, run_id, *, now=NOW, rows=None, window=(None, None), watermark=None):
    """Write the entry of a run as a commit does: after the last one."""
    last = last_commit(session, sql, "p", "t")
    entry = LedgerEntry(
        run_id=run_id,
        committed_at=iso(moment_after(last, now)),
        rows=rows or RowCounts(),
        window=window,
        watermark=watermark_after(last, watermark),
    )
    with session.transaction():
        write_entry(session, sql, entry, pipeline="p", target="t", now=now)
    return entry


def test_the_ledger_gives_back_all_it_was_given(target):  # noqa: F811
    sql = bookkeeping(target.dialect)
    rows = RowCounts(read=7, inserted=1, updated=2, unchanged=3, closed=4, deleted=5, quarantined=6)
    with target.open() as session:
        ensure_own_tables(session, sql)
        entry = written(
            session,
            sql,
            "r1",
            rows=rows,
            window=("> integer 1", "<= integer 9"),
            watermark="integer:9",
        )
        assert entry_of_run(session, sql, "p", "t", "r1") == entry
        assert (entry.rows, entry.window) == (rows, ("> integer 1", "<= integer 9"))
        assert entry_of_run(session, sql, "p", "t", "r2") is None
        assert entry_of_run(session, sql, "p", "other", "r1") is None


@pytest.mark.proves("backfill")
def test_the_watermark_stays_where_it_belongs(target):  # noqa: F811
    sql = bookkeeping(target.dialect)
    with target.open() as session:
        ensure_own_tables(session, sql)

        def reached(run_id, **landed):
            written(session, sql, run_id, **landed)
            return last_commit(session, sql, "p", "t").watermark

        assert reached("r1", watermark="integer:5") == "integer:5"
        assert reached("empty", watermark=None) == "integer:5"
        assert reached("backfill") == "integer:5"
        assert reached("late rows only", watermark="integer:3") == "integer:5"
        assert reached("r2", watermark="integer:6") == "integer:6"
        assert reached("another column", watermark="date:2026") == "date:2026"


def test_a_clock_that_goes_back_does_not_turn_commits_round(target):  # noqa: F811
    sql = bookkeeping(target.dialect)
    with target.open() as session:
        ensure_own_tables(session, sql)
        written(session, sql, "r1", watermark="integer:1")
        written(session, sql, "r2", watermark="integer:2", now=NOW - timedelta(hours=1))
        assert last_commit(session, sql, "p", "t").run_id == "r2"
