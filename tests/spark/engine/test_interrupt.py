"""Work that is ended by another thread, as when a run has lost its lease."""

import threading

import pytest

from ematix_flow.engine.spark.interrupt import interrupt, interruptible


def test_tagged_work_ends_and_the_session_goes_on(spark):
    ended = threading.Event()

    def end():
        # Again and again, because the job may not have begun.
        while not ended.wait(0.2):
            interrupt(spark, "a run")

    thread = threading.Thread(target=end)
    thread.start()
    try:
        with interruptible(spark, "a run"), pytest.raises(Exception, match=r"(?i)cancel"):
            spark.range(10**15).selectExpr("sum(id % 7)").collect()
    finally:
        ended.set()
        thread.join()
    assert spark.range(3).count() == 3


def test_an_engine_without_tags_is_waited_for():
    with interruptible(object(), "a run"):
        interrupt(object(), "a run")
