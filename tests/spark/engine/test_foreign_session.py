"""A Spark session that is not ours is borrowed or refused, never taken over."""

from __future__ import annotations

import pytest

from tests.spark.engine.scripts import play

CODE = """
from ematix_flow.engine.spark.launch import jvm_environment
with jvm_environment(find_java(), local=True):
    from pyspark.sql import SparkSession
    theirs = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "9").getOrCreate())

lent = borrow(theirs)
seen["report"] = lent.report.mode, lent.report.address
seen["works"] = lent.session.range(4).count()
try:
    with engine():
        seen["refused"] = None
except FlowError as error:
    seen["refused"] = str(error)
close_embedded()
seen["still"] = [theirs.range(5).count(), theirs.conf.get("spark.sql.shuffle.partitions"),
    theirs.conf.get("spark.sql.session.timeZone") == theirs.sparkContext._jvm.java.util.TimeZone
    .getDefault().getID()]
theirs.stop()
"""


@pytest.mark.proves("borrowed-session")
def test_a_foreign_session_is_never_taken_over(tmp_path):
    scene = play(CODE, tmp_path / "state")
    assert scene.seen["report"] == ["borrowed", "local[1]"]
    assert scene.seen["works"] == 4
    assert "hand it in with `session=`" in scene.seen["refused"]
    assert scene.seen["still"] == [5, "9", True]
