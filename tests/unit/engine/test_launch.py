"""The start of a JVM: what it is told in public, and for how long it is waited for."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from ematix_flow.engine.host.java import Java
from ematix_flow.engine.spark import launch
from ematix_flow.errors import EngineError

JAVA = Java(home=Path("/none"), version=17, origin="a test")


@pytest.mark.parametrize(
    ("key", "public"),
    [
        ("spark.master", True),
        ("spark.app.name", True),
        ("spark.jars", True),
        ("spark.jars.packages", True),
        ("spark.driver.memory", True),
        ("spark.driver.extraJavaOptions", True),
        ("spark.log.level", True),
        ("spark.hadoop.fs.s3a.secret.key", False),
        ("spark.ssl.keyPassword", False),
        ("spark.driverless", False),
        ("spark.kubernetes.authenticate.oauthToken", False),
    ],
)
def test_only_what_the_start_needs_is_on_the_command_line(key, public):
    assert bool(launch._LAUNCH.match(key)) is public


def scripted(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setattr(launch, "_command", lambda _: [sys.executable, "-c", code])


@pytest.mark.parametrize("status", [0, 1])
def test_a_jvm_that_ends_is_an_error_whatever_its_status(tmp_path, monkeypatch, status):
    pytest.importorskip("pyspark")
    scripted(monkeypatch, f"print('version 4', flush=True); raise SystemExit({status})")
    with pytest.raises(EngineError, match="JVM did not start") as caught:
        launch.start_jvm({"spark.master": "local[1]"}, java=JAVA, log=tmp_path / "log")
    assert "version 4" in str(caught.value)


def test_a_jvm_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    pytest.importorskip("pyspark")
    scripted(monkeypatch, "import time; time.sleep(600)")
    monkeypatch.setattr(launch, "_LOCAL_SECONDS", 0.2)
    started: list[subprocess.Popen[bytes]] = []
    real = launch._wait_for

    def wait(file: Path, process: subprocess.Popen[bytes], seconds: float) -> str | None:
        started.append(process)
        return real(file, process, seconds)

    monkeypatch.setattr(launch, "_wait_for", wait)
    with pytest.raises(EngineError, match=r"did not start within 0\.2 s"):
        launch.start_jvm({"spark.master": "local[1]"}, java=JAVA, log=tmp_path / "log")
    assert started[0].returncode is not None


def test_pyspark_is_told_of_the_jvm_for_a_moment_only(tmp_path):
    (tmp_path / "gateway").write_bytes(struct.pack("!ii", 4711, 6) + b"secret")
    with launch._gateway_environment(tmp_path / "gateway"):
        assert os.environ["PYSPARK_GATEWAY_PORT"] == "4711"
        assert os.environ["PYSPARK_GATEWAY_SECRET"] == "secret"
    assert "PYSPARK_GATEWAY_PORT" not in os.environ


def test_a_local_spark_takes_no_submit_arguments_from_a_profile(monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--packages a:b:1 pyspark-shell")
    with launch.jvm_environment(JAVA, local=True):
        assert "PYSPARK_SUBMIT_ARGS" not in os.environ
    with launch.jvm_environment(JAVA, local=False):
        assert "PYSPARK_SUBMIT_ARGS" in os.environ
    assert os.environ["PYSPARK_SUBMIT_ARGS"].startswith("--packages")
