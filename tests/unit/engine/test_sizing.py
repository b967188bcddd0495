"""Spark's settings follow the machine and the input, and the user wins."""

from __future__ import annotations

import sys
from subprocess import run

import pytest

from ematix_flow.engine.host.machine import GIB, Machine
from ematix_flow.engine.spark.sizing import JAVA_OPTIONS, MIB, Setting, size

LAPTOP = Machine(cores=4, memory_bytes=16 * GIB)


def value(key: str, *arguments, **options) -> str | None:
    return size(*arguments, **options).value(key)


@pytest.mark.proves("sizing")
@pytest.mark.parametrize(
    ("memory", "heap"), [(1, "1024m"), (2, "1024m"), (16, "8192m"), (512, "31744m")]
)
def test_the_driver_gets_half_the_memory_within_limits(memory, heap):
    machine = Machine(cores=2, memory_bytes=memory * GIB)
    assert value("spark.driver.memory", machine) == heap


@pytest.mark.proves("sizing")
@pytest.mark.parametrize(
    ("input_bytes", "partitions"),
    [(None, "16"), (0, "4"), (1000, "4"), (10 * GIB, "160"), (10_000 * GIB, "2000")],
)
def test_shuffle_partitions_follow_the_input(input_bytes, partitions):
    assert value("spark.sql.shuffle.partitions", LAPTOP, input_bytes) == partitions


@pytest.mark.proves("sizing")
@pytest.mark.parametrize(
    ("input_bytes", "limit"),
    [(None, 32 * MIB), (1000, 10 * MIB), (100 * MIB, 50 * MIB), (100 * GIB, 128 * MIB)],
)
def test_the_broadcast_limit_follows_the_input_and_the_heap(input_bytes, limit):
    assert value("spark.sql.autoBroadcastJoinThreshold", LAPTOP, input_bytes) == str(limit)


def test_defaults_that_make_spark_quiet_private_and_predictable():
    conf = size(LAPTOP).conf()
    assert conf["spark.sql.session.timeZone"] == "UTC"
    assert conf["spark.sql.ansi.enabled"] == "true"
    assert conf["spark.sql.adaptive.enabled"] == "true"
    assert conf["spark.ui.enabled"] == "false"
    assert conf["spark.ui.showConsoleProgress"] == "false"
    assert conf["spark.log.level"] == "ERROR"
    assert conf["spark.driver.host"] == conf["spark.driver.bindAddress"] == "127.0.0.1"
    assert "-XX:+UseParallelGC" in conf["spark.driver.extraJavaOptions"]


def test_every_setting_has_a_reason():
    for engine in ("local", "master", "connect", "sail"):
        assert all(setting.why for setting in size(LAPTOP, 5 * GIB, engine=engine).settings)


def test_a_cluster_is_not_bound_to_this_machine():
    conf = size(LAPTOP, engine="master").conf()
    assert "spark.driver.host" not in conf
    assert conf["spark.driver.memory"] == "4096m"
    assert conf["spark.sql.shuffle.partitions"] == "200"


def test_a_remote_engine_gets_only_what_one_session_can_have():
    sizing = size(LAPTOP, engine="connect")
    assert sizing.static_conf() == {}
    assert sizing.session_conf() == sizing.conf()


@pytest.mark.proves("sizing")
def test_overrides_win_and_say_where_they_stand():
    sizing = size(
        LAPTOP,
        overrides={"spark.sql.shuffle.partitions": "7", "spark.foo": "bar"},
        set_in="flow.toml",
    )
    assert Setting("spark.sql.shuffle.partitions", "7", "set in flow.toml") in sizing.settings
    assert sizing.value("spark.foo") == "bar"
    assert len({setting.key for setting in sizing.settings}) == len(sizing.settings)


def test_settings_are_told_apart_by_when_they_can_be_set():
    assert Setting("spark.sql.shuffle.partitions", "1", "").per_session
    assert not Setting("spark.sql.extensions", "x", "").per_session
    assert not Setting("spark.sql.warehouse.dir", "x", "").per_session
    assert not Setting("spark.driver.memory", "1g", "").per_session


def test_sizing_needs_no_pyspark():
    code = (
        "import sys; import ematix_flow.engine.spark.sizing, ematix_flow.engine.choice;"
        "sys.exit(any(name in sys.modules for name in ('pyspark', 'pandas', 'pyarrow', 'grpc')))"
    )
    assert run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_users_java_options_are_added_to_ours():
    sized = size(Machine(cores=2, memory_bytes=8 * GIB), None, {JAVA_OPTIONS: "-Dx=1"})
    assert sized.value(JAVA_OPTIONS).endswith("-Duser.timezone=UTC -Dx=1")
