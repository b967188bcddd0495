"""Jars from Maven Central by the Ivy inside pyspark: fetched, verified, loaded by Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from ematix_flow.engine.jars.lock import Connector, JarLock, LockedJar, shipped_lock
from ematix_flow.engine.jars.store import JarCache
from ematix_flow.errors import JarError
from tests.spark.engine.scripts import begin, finish, play

AVRO = "org.apache.spark:spark-avro_2.13:4.1.1"


def leftovers(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if path.name != ".lock")


@pytest.mark.proves("jars-verified")
def test_two_processes_fetch_at_once_and_spark_loads_the_classes(tmp_path):
    cache = str(tmp_path / "cache")
    code = """
paths = JarCache().ensure(["avro", "postgres"])
seen["files"] = [path.name for path in paths]
"""
    both = [begin(code, tmp_path / f"{number}", EMATIX_FLOW_CACHE=cache) for number in range(2)]
    for process in both:
        assert finish(process).seen["files"] == [
            "org.apache.spark_spark-avro_2.13-4.1.1.jar",
            "org.postgresql_postgresql-42.7.14.jar",
        ]
    assert len(leftovers(tmp_path / "cache" / "jars")) == 2

    load = """
with engine(connectors=["avro", "postgres"]) as opened:
    session = opened.session
    session.range(3).write.format("avro").save(str(STATE / "rows"))
    seen["rows"] = session.read.format("avro").load(str(STATE / "rows")).count()
    try:
        session.read.format("jdbc").options(
            url="jdbc:postgresql://localhost:1/none", dbtable="t",
            driver="org.postgresql.Driver").load()
    except Exception as error:
        seen["driver"] = str(translate(error))
"""
    scene = play(load, tmp_path / "state", EMATIX_FLOW_CACHE=cache)
    assert scene.seen["rows"] == 3
    assert "Connection to localhost:1 refused" in scene.seen["driver"]  # the driver's own words


@pytest.mark.proves("jars-verified", "bad-engine")
def test_a_corrupt_jar_is_fetched_again(tmp_path):
    jars = JarCache(tmp_path)
    (path,) = jars.ensure(["avro"])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(JarError, match=AVRO):
        jars.verify()
    assert jars.ensure(["avro"]) == (path,)
    assert path.read_bytes() == whole


def settings(tmp_path: Path, root: str) -> str:
    file = tmp_path / "ivysettings.xml"
    file.write_text(
        '<ivysettings><settings defaultResolver="mirror"/><resolvers>'
        f'<ibiblio name="mirror" m2compatible="true" root="{root}"/></resolvers></ivysettings>'
    )
    return str(file)


@pytest.mark.proves("bad-engine")
def test_without_a_network_the_coordinates_are_named_and_nothing_is_left(tmp_path, monkeypatch):
    mirror = settings(tmp_path, "http://127.0.0.1:1/maven2")
    monkeypatch.setenv("EMATIX_FLOW_IVY_SETTINGS", mirror)
    with pytest.raises(JarError) as caught:
        JarCache(tmp_path / "jars").ensure(["avro"])
    assert f"cannot fetch {AVRO}" in str(caught.value)
    assert "refused" in str(caught.value)
    assert "EMATIX_FLOW_IVY_SETTINGS" in str(caught.value)
    assert leftovers(tmp_path / "jars") == []


def test_a_mirror_can_be_named(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror"
    (jar,) = shipped_lock().jars(["avro"])
    (original,) = JarCache(tmp_path / "first").ensure(["avro"])
    folder = mirror / "org/apache/spark/spark-avro_2.13/4.1.1"
    folder.mkdir(parents=True)
    (folder / "spark-avro_2.13-4.1.1.jar").write_bytes(original.read_bytes())
    monkeypatch.setenv("EMATIX_FLOW_IVY_SETTINGS", settings(tmp_path, mirror.as_uri()))
    cache = JarCache(tmp_path / "second")
    assert cache.ensure(["avro"]) == (cache.path(jar),)


@pytest.mark.proves("jars-verified", "bad-engine")
def test_what_central_does_not_have_or_has_otherwise_is_an_error(tmp_path):
    def lock(coordinates: str) -> JarLock:
        jar = LockedJar(coordinates, "0" * 64)
        return JarLock(spark="4.1", connectors={"x": Connector(name="x", about="", jars=(jar,))})

    with pytest.raises(JarError, match=r"cannot fetch org\.nowhere:nothing:1"):
        JarCache(tmp_path, lock=lock("org.nowhere:nothing:1")).ensure(["x"])
    with pytest.raises(JarError, match="is not the jar of the lock"):
        JarCache(tmp_path, lock=lock(AVRO)).ensure(["x"])
    assert leftovers(tmp_path) == []
