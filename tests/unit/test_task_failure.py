"""Errors of ours that come back from a Spark task as text."""

from __future__ import annotations

import pytest

from ematix_flow.engine.spark.errors import translate
from ematix_flow.errors import EngineError, StagingLost, TargetUnreachable
from ematix_flow.spec.task_failure import TaskFailure, read_task_failure, told_to_the_driver

STACK = "Job aborted due to stage failure: ... PythonException: Traceback\n{}\n\n\tat org.apache.x"


def packed(error: Exception) -> str:
    with pytest.raises(TaskFailure) as caught, told_to_the_driver():
        raise error from ValueError("postgresql://u:hunter22@h/d")
    # The driver of a database may quote a login; its words stay on the worker.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    return STACK.format(caught.value)


@pytest.mark.proves("retryable")
def test_an_error_arrives_as_it_was_raised():
    error = TargetUnreachable('it\'s gone:\n{"a"}', where="db:5432/x", hint="wait", details="d\ne")
    found = read_task_failure(packed(error))
    assert type(found) is TargetUnreachable
    assert found.to_json() == error.to_json()


def test_what_is_not_ours_passes():
    with pytest.raises(ZeroDivisionError), told_to_the_driver():
        raise ZeroDivisionError
    assert read_task_failure(STACK.format("ZeroDivisionError")) is None
    assert read_task_failure(STACK.format("No module named 'theirs'")) is None


def test_a_text_that_was_cut_off_is_no_error_of_ours():
    text = packed(StagingLost("gone"))
    assert read_task_failure(text[: text.index('"what"')]) is None


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("ematix_flow.write", "ematix-flow"),
        ("adbc_driver_postgresql", "ematix-flow[postgres]"),
    ],
)
def test_workers_that_lack_a_package_are_told_what_to_install(module, package):
    text = STACK.format(f"ModuleNotFoundError: No module named '{module}'")
    found = read_task_failure(text)
    assert isinstance(found, EngineError)
    assert f"pip install '{package}' on the engine's machines" in str(found)


def test_the_driver_reads_them_before_it_blames_spark():
    class PythonException(Exception):
        pass

    PythonException.__module__ = "pyspark.errors"
    found = translate(PythonException(packed(StagingLost("gone"))))
    assert type(found) is StagingLost
