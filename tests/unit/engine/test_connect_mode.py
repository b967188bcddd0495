"""The variable by which pyspark knows that it speaks Spark Connect."""

import os
from contextlib import ExitStack

import pytest

from ematix_flow.engine.spark.connect_mode import connect_mode, connected

VARIABLE = "SPARK_CONNECT_MODE_ENABLED"


@pytest.mark.proves("borrowed-session")
@pytest.mark.parametrize("before", [None, "0"])
@pytest.mark.parametrize("first_leaves_first", [True, False])
def test_the_variable_is_as_it_was_when_the_last_of_us_has_left(
    monkeypatch, before, first_leaves_first
):
    if before is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, before)
    first, second = ExitStack(), ExitStack()
    first.enter_context(connect_mode())
    second.enter_context(connect_mode())
    assert (connected(), os.environ[VARIABLE]) == (True, "1")
    for number, leaving in enumerate([first, second] if first_leaves_first else [second, first]):
        leaving.close()
        assert connected() is (number == 0)
    assert os.environ.get(VARIABLE) == before
