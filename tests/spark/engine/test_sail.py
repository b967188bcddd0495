"""Sail, where it is installed: the same open_engine, no JVM."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.spark.engine.scripts import play

# `make test-sail` runs these where pysail is; it and pyspark do not share an environment.
pytestmark = [
    pytest.mark.every_engine,
    pytest.mark.skipif(find_spec("pysail") is None, reason="pysail is not installed"),
]

CODE = """
from pyspark.sql import functions as F
with engine("sail", sizing=size(SMALL, 1000, engine="sail")) as opened:
    seen["report"] = opened.report.to_json()
    session = opened.session
    seen["sum"] = session.range(10).select(F.sum(F.col("id"))).collect()[0][0]
    session.range(3).createOrReplaceTempView("mine")
    seen["zone"] = session.conf.get("spark.sql.session.timeZone")
    seen["listening"] = listening()
    try:
        session.sql("SELECT * FROM nope").collect()
    except Exception as error:
        seen["error"] = type(translate(error)).__name__
"""


def test_sail_runs_in_this_process_on_loopback(tmp_path):
    scene = play(CODE, tmp_path / "state")
    assert scene.seen["report"]["engine"] == "sail"
    assert scene.seen["report"]["java"] is None
    assert scene.seen["sum"] == 45
    assert scene.seen["zone"] == "UTC"
    assert scene.seen["listening"] == ["127.0.0.1"]
    assert scene.seen["error"] == "QueryError"
    assert scene.noise == ""
