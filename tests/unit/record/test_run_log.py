from dataclasses import replace

import pytest

from ematix_flow._base.clock import SystemClock
from ematix_flow.errors import PipelineBusy
from ematix_flow.record.lease import pipeline_lease
from ematix_flow.record.run import RowCounts, RunRecord, RunStatus, StepRecord
from ematix_flow.record.stores.jsonl import JsonlRunLog


@pytest.fixture
def log(tmp_path):
    return JsonlRunLog(tmp_path / "state" / "runs.jsonl")


def run(run_id, pipeline="p"):
    return RunRecord(
        run_id=run_id,
        pipeline=pipeline,
        status=RunStatus.RUNNING,
        started_at="2026-01-01T00:00:00Z",
    )


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
    assert log.open_run("p") is None


def test_runs_are_newest_first_filtered_and_limited(log):
    for number, pipeline in enumerate("aabb"):
        log.started(run(str(number), pipeline))
    assert [each.run_id for each in log.runs()] == ["3", "2", "1", "0"]
    assert [each.run_id for each in log.runs("a")] == ["1", "0"]
    assert [each.run_id for each in log.runs("b", limit=1)] == ["3"]
    assert log.open_run("a").run_id == "1"


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


def test_a_second_attempt_continues_the_run(log):
    log.started(run("1"))
    log.started(replace(run("1"), attempt=2))
    [found] = log.runs()
    assert found.attempt == 2


def test_two_holders_of_one_lease_are_refused_with_who_holds_it(tmp_path):
    clock = SystemClock()
    with pipeline_lease(tmp_path, "p", clock):
        with pytest.raises(PipelineBusy, match=r"'p' is already running \(process \d+, since 20"):
            pipeline_lease(tmp_path, "p", clock).__enter__()
        with pipeline_lease(tmp_path, "other", clock):
            pass
    with pipeline_lease(tmp_path, "p", clock):
        pass
