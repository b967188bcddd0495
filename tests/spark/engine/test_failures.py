"""What Spark raises reaches the user as one of our errors."""

from __future__ import annotations

import pytest

from tests.spark.engine.failures import CODE, assert_told
from tests.spark.engine.scripts import play


@pytest.mark.proves("no-stack-trace", "bad-files")
def test_failures_on_the_embedded_spark(tmp_path):
    scene = play(
        f"{CODE}\nwith engine() as e:\n    seen['all'] = failures(e.session)", tmp_path / "s"
    )
    assert_told(scene.seen["all"])
    assert scene.noise == ""


def test_a_jvm_that_dies_is_said_to_be_gone_and_replaced(tmp_path):
    code = """
with engine() as opened:
    opened.session.sparkContext._gateway.proc.kill()
    opened.session.sparkContext._gateway.proc.wait()
    try:
        opened.session.range(3).count()
    except Exception as error:
        seen["said"] = str(translate(error))
with engine() as opened:
    seen["again"] = opened.session.range(3).count()
"""
    scene = play(code, tmp_path / "state")
    assert scene.seen["said"].startswith("Spark's JVM is gone")
    assert scene.seen["again"] == 3


@pytest.mark.proves("bad-engine")
def test_a_jvm_that_does_not_start_is_one_clear_error(tmp_path):
    code = """
options = {"spark.driver.extraJavaOptions": "-javaagent:/no-such-agent.jar"}
try:
    with engine(sizing=size(SMALL, 1000, options)):
        pass
except FlowError as error:
    seen["said"] = [type(error).__name__, str(error)]
"""
    kind, text = play(code, tmp_path / "state").seen["said"]
    assert kind == "EngineError"
    assert "Spark's JVM did not start" in text
    assert "no-such-agent" in text
    assert "spark.log" in text
