from dataclasses import replace

import pytest

from ematix_flow._base.clock import SystemClock
from ematix_flow.errors import ConfigError, PipelineBusy
from ematix_flow.record.backfills import Backfill, Backfills
from ematix_flow.record.lease import pipeline_lease
from ematix_flow.record.run import Purpose, RunResult, RunStatus, StepRecord, TargetOutcome
from ematix_flow.record.stores.jsonl import JsonlRunLog
from ematix_flow.spec.counts import RowCounts


@pytest.fixture
def log(tmp_path):
    return JsonlRunLog(tmp_path / "state" / "runs.jsonl")


def run(run_id, pipeline="p"):
    return RunResult(
        run_id=run_id,
        pipeline=pipeline,
        status=RunStatus.RUNNING,
        started_at="2026-01-01T00:00:00Z",
    )


@pytest.mark.proves("record-of-run")
def test_a_run_is_remembered_whole(log):
    began = run("1")
    log.started(began)
    log.step(began, StepRecord(step="stage", seconds=1.5, rows=3))
    ended = replace(
        began,
        status=RunStatus.SUCCEEDED,
        ended_at="2026-01-01T00:01:00Z",
        rows=RowCounts(read=3, inserted=3),
        engine={"engine": "local"},
        steps=(StepRecord(step="stage", seconds=1.5, rows=3),),
    )
    log.ended(ended)
    assert log.runs() == [ended]
    assert log.open_runs("p") == []


def test_runs_are_newest_first_filtered_and_limited(log):
    for number, pipeline in enumerate("aabb"):
        log.started(run(str(number), pipeline))
    assert [each.run_id for each in log.runs()] == ["3", "2", "1", "0"]
    assert [each.run_id for each in log.runs("a")] == ["1", "0"]
    assert [each.run_id for each in log.runs("b", limit=1)] == ["3"]
    assert [each.run_id for each in log.open_runs("a")] == ["1", "0"]


def test_no_file_is_no_runs(log):
    assert log.runs() == []


def test_a_torn_line_is_passed_over_and_does_not_swallow_the_next(log):
    log.started(run("1"))
    with log.file.open("a") as file:
        file.write('{"version": 1, "event": "started", "run_i')
    log.started(run("2"))
    assert [each.run_id for each in log.runs()] == ["2", "1"]


def test_garbage_and_other_versions_are_passed_over(log):
    log.started(run("1"))
    with log.file.open("a") as file:
        file.write('[]\n"x"\n\x00\x00\n{"version": 99, "event": "started", "run_id": "9"}\n')
    assert [each.run_id for each in log.runs()] == ["1"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"version": 1, "event": "started", "run_id": "9"}',
        b'{"version": 1, "event": "ended", "run_id": "1", "status": "who knows"}',
        b'{"version": 1, "event": "ended", "run_id": "1", "status": "failed", "ended_at": "t", '
        b'"adopted": false, "rows": {"lost": 1}, "engine": {}, "error": null}',
        b'{"version": 1, "event": "ended", "run_id": "1", "targets": 7, "rows": 7}',
        b'{"version": 1, "event": "step", "run_id": "1"}',
        b"[" * 100_000,
        b"9" * 10_000,
        bytes(range(256)),
    ],
)
def test_lines_that_nobody_can_make_out_are_passed_over(log, line):
    log.started(run("1"))
    with log.file.open("ab") as file:
        file.write(line + b"\n")
    log.started(run("2"))
    assert log.runs() == [run("2"), run("1")]


def test_a_log_that_cannot_be_read_is_told(log):
    log.file.mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"the run log '.*runs.jsonl' cannot be read: Is a dir"):
        log.runs()


def test_a_second_attempt_continues_the_run(log):
    log.started(run("1"))
    log.started(replace(run("1"), attempt=2))
    [found] = log.runs()
    assert found.attempt == 2


def test_lines_of_an_earlier_version_are_read(log):
    log.file.parent.mkdir(parents=True)
    head = '"version": 1, "run_id": "1"'
    log.file.write_text(
        f'{{{head}, "event": "started", "pipeline": "p", "started_at": "t", "attempt": 1, '
        f'"engine": {{}}}}\n'
        f'{{{head}, "event": "step", "step": "stage", "seconds": 1.0, "rows": 3}}\n'
        f'{{{head}, "event": "ended", "status": "succeeded", "ended_at": "t", "adopted": false, '
        '"rows": {"read": 3, "inserted": 3, "deleted": 0, "quarantined": 0}, "engine": {}, '
        '"error": null}\n'
    )
    [found] = log.runs()
    assert (found.rows, found.purpose) == (RowCounts(read=3, inserted=3), Purpose.RUN)
    assert (found.window, found.targets) == (None, ())


def test_what_a_run_began_with_is_known_before_it_ends(log):
    began = replace(
        run("1"), purpose=Purpose.REPLAY, replay_of="0", path="spark", window=("> integer 1", None)
    )
    log.started(began)
    assert log.runs() == log.open_runs("p") == [began]
    assert log.run("1") == began
    assert log.run("2") is None


def outcome(name, status):
    return TargetOutcome(connection=name, target="t", status=status, rows=RowCounts(inserted=1))


@pytest.mark.proves("several-targets")
def test_a_run_that_landed_in_part_is_gone_on_with_until_another_ended(log):
    began = run("1")
    log.started(began)
    halves = (outcome("a", RunStatus.SUCCEEDED), outcome("b", RunStatus.FAILED))
    ended = replace(began.with_targets(halves), status=RunStatus.FAILED, ended_at="t")
    log.ended(ended)
    assert log.open_runs("p") == [ended]
    log.started(run("2"))
    log.ended(replace(run("2"), status=RunStatus.SUCCEEDED, ended_at="t"))
    assert log.open_runs("p") == []


def test_the_counts_of_several_targets_are_taken_together():
    rows = (RowCounts(read=5, inserted=2, unchanged=3), RowCounts(read=5, inserted=5))
    outcomes = tuple(replace(outcome("a", RunStatus.SUCCEEDED), rows=each) for each in rows)
    assert run("1").with_targets(outcomes).rows == RowCounts(read=5, inserted=7, unchanged=3)


@pytest.mark.proves("one-lease")
def test_two_holders_of_one_lease_are_refused_with_who_holds_it(tmp_path):
    clock = SystemClock()
    with pipeline_lease(tmp_path, "p", clock):
        with pytest.raises(PipelineBusy, match=r"'p' is already running \(process \d+, since 20"):
            pipeline_lease(tmp_path, "p", clock).__enter__()
        with pipeline_lease(tmp_path, "other", clock):
            pass
    with pipeline_lease(tmp_path, "p", clock):
        pass


@pytest.mark.proves("backfill")
def test_a_backfill_is_gone_on_with_until_it_ends_or_another_is_asked_for(tmp_path):
    kept = Backfills(tmp_path / "backfills")
    ids = iter("0123456789")

    def wanted(**changes):
        ident = f"01a1e012-19c4-7b00-afab-d94479cc605{next(ids)}"
        facts = {"start": "1", "end": "9", "chunk": "2", "moves_watermark": True}
        return Backfill(id=ident, pipeline="p", **{**facts, **changes})

    first, resumed = kept.begin(wanted(), new=False)
    assert not resumed
    assert kept.begin(wanted(moves_watermark=False), new=False) == (first, True)
    other, resumed = kept.begin(wanted(end="8"), new=False)
    assert (other.end, resumed) == ("8", False)
    again, resumed = kept.begin(wanted(end="8"), new=True)
    assert (again != other, resumed) == (True, False)
    kept.end(again)
    assert not kept.begin(wanted(end="8"), new=False)[1]


def test_the_runs_of_chunks_are_the_same_each_time_and_in_order():
    backfill = Backfill(
        id="01a1e012-19c4-7b00-afab-d94479cc6051",
        pipeline="p",
        start="1",
        end="9",
        chunk=None,
        moves_watermark=True,
    )
    ids = [backfill.run_id(number) for number in range(1000)]
    assert ids == sorted(set(ids))
    assert all(each.startswith("01a1e012-19c4-7b00-afab-d944") for each in ids)
