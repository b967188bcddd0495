"""`flow engine` and `flow jars` from the outside, without a JVM."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ematix_flow.cli.root import flow
from ematix_flow.engine.host.java import Java
from ematix_flow.engine.jars import store as jars_module
from ematix_flow.engine.jars.lock import shipped_lock
from ematix_flow.errors import JarError, UnknownName, UsageError


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EMATIX_FLOW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        jars_module, "find_java", lambda: Java(home=tmp_path, version="17", origin="x")
    )
    monkeypatch.delenv("EMATIX_FLOW_ENGINE", raising=False)
    return tmp_path / "cache" / "jars"


def call(*arguments: str) -> str:
    result = CliRunner().invoke(flow, arguments, catch_exceptions=False, standalone_mode=False)
    return result.stdout


def called_json(*arguments: str) -> dict:
    return json.loads(call(*arguments, "--format", "json"))


def test_jars_list_shows_every_connector():
    shown = call("jars", "list")
    for name in shipped_lock().connectors:
        assert name in shown
    assert "missing" in shown


def test_jars_list_in_json(own_cache):
    data = called_json("jars", "list", "avro")
    assert data["directory"] == str(own_cache)
    assert [(jar["coordinates"], jar["state"]) for jar in data["jars"]] == [
        ("org.apache.spark:spark-avro_2.13:4.1.1", "missing")
    ]


def test_a_connector_nobody_knows_is_guessed_at():
    with pytest.raises(UnknownName, match="did you mean 'postgres'"):
        call("jars", "list", "postgress")


def test_verify_names_a_corrupt_jar(own_cache):
    assert "No jars in the cache" in call("jars", "verify")
    own_cache.mkdir(parents=True)
    (own_cache / "org.apache.spark_spark-avro_2.13-4.1.1.jar").write_bytes(b"junk")
    with pytest.raises(JarError, match="spark-avro"):
        call("jars", "verify")


def test_the_engine_is_down_until_it_is_started(tmp_path):
    assert "Not running" in call("engine", "status", "--project", str(tmp_path))
    assert "was not running" in call("engine", "stop", "--project", str(tmp_path))
    data = called_json("engine", "status", "--project", str(tmp_path))
    assert data["engine"]["standing"] == "down"
    assert not (tmp_path / ".ematix-flow").exists()


def test_a_warm_server_is_only_for_the_local_engine(tmp_path):
    with pytest.raises(UsageError, match="serves the engine 'local'"):
        call("engine", "start", "--project", str(tmp_path), "--engine", "sc://host:1")
