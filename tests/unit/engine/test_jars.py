"""The jar cache: nothing half-written, nothing unverified, whatever the fetcher does."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from ematix_flow.engine.host.java import Java
from ematix_flow.engine.jars.lock import Connector, JarLock, LockedJar
from ematix_flow.engine.jars.store import JarCache
from ematix_flow.errors import JarError

CONTENT = {"g:one:1": b"the first jar", "g:two:2": b"the second jar"}
ONE, TWO = (
    LockedJar(coordinates, hashlib.sha256(content).hexdigest())
    for coordinates, content in CONTENT.items()
)
LOCK = JarLock(
    spark="4.1",
    connectors={
        "one": Connector(name="one", about="", jars=(ONE,), conf=(("spark.sql.extensions", "A"),)),
        "both": Connector(
            name="both",
            about="",
            jars=(ONE, TWO),
            conf=(("spark.sql.extensions", "B"), ("spark.x", "y")),
        ),
    },
)
JAVA = Java(home=Path("/nowhere"), version="17", origin="test")


class Fetcher:
    """Stands in for Ivy: writes what it is told, and counts."""

    def __init__(self, content: dict[str, bytes] = CONTENT) -> None:
        self.content = content
        self.fetched: list[str] = []

    def __call__(self, jars: Sequence[LockedJar], into: Path, java: Java) -> None:
        assert java is JAVA
        for jar in jars:
            self.fetched.append(jar.coordinates)
            if jar.coordinates in self.content:
                (into / jar.file_name).write_bytes(self.content[jar.coordinates])


def cache(directory: Path, fetcher: Fetcher) -> JarCache:
    return JarCache(directory, lock=LOCK, fetch=fetcher)


def leftovers(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if path.name != ".lock")


@pytest.mark.proves("jars-verified")
def test_only_what_is_needed_is_fetched_and_only_once(tmp_path):
    fetcher = Fetcher()
    jars = cache(tmp_path / "jars", fetcher)
    assert jars.ensure([], java=JAVA) == ()
    assert not (tmp_path / "jars").exists()
    assert [path.read_bytes() for path in jars.ensure(["one"], java=JAVA)] == [b"the first jar"]
    jars.ensure(["both"], java=JAVA)
    jars.ensure(["both", "one"], java=JAVA)
    assert fetcher.fetched == ["g:one:1", "g:two:2"]
    assert leftovers(tmp_path / "jars") == ["g_one-1.jar", "g_two-2.jar"]


@pytest.mark.proves("jars-verified", "bad-engine")
def test_a_corrupt_jar_is_seen_and_healed(tmp_path):
    fetcher = Fetcher()
    jars = cache(tmp_path, fetcher)
    (path,) = jars.ensure(["one"], java=JAVA)
    path.write_bytes(b"the first ja")
    assert [jar.state for jar in jars.list(["one"])] == ["corrupt"]
    with pytest.raises(JarError, match=r"g:one:1.*\n?.*") as caught:
        jars.verify()
    assert "flow jars fetch --force one both" in str(caught.value)
    jars.ensure(["one"], java=JAVA)
    assert path.read_bytes() == b"the first jar"
    assert [jar.state for jar in jars.verify()] == ["ready"]


@pytest.mark.proves("jars-verified", "bad-engine", "nothing-half-written")
def test_a_wrong_download_is_an_error_and_nothing_is_kept(tmp_path):
    jars = cache(tmp_path, Fetcher({**CONTENT, "g:two:2": b"something else"}))
    with pytest.raises(JarError, match=r"g:two:2 was fetched but is not the jar of the lock"):
        jars.ensure(["both"], java=JAVA)
    assert leftovers(tmp_path) == ["g_one-1.jar"]


@pytest.mark.proves("nothing-half-written")
def test_a_failing_fetch_leaves_nothing(tmp_path):
    def fail(jars: Sequence[LockedJar], into: Path, java: Java) -> None:  # noqa: ARG001
        (into / "g_one-1.jar").write_bytes(b"half a j")
        raise JarError("cannot fetch g:one:1: no network")

    with pytest.raises(JarError, match="no network"):
        JarCache(tmp_path, lock=LOCK, fetch=fail).ensure(["one"], java=JAVA)
    assert leftovers(tmp_path) == []


@pytest.mark.proves("bad-engine")
def test_a_cache_that_cannot_be_written_is_named_with_the_jars(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JarError) as caught:
        cache(tmp_path / "file" / "jars", Fetcher()).ensure(["one"], java=JAVA)
    assert "g:one:1" in str(caught.value)
    assert "EMATIX_FLOW_CACHE" in str(caught.value)


def test_force_fetches_anew(tmp_path):
    fetcher = Fetcher()
    jars = cache(tmp_path, fetcher)
    jars.fetch(["one"], java=JAVA)
    jars.fetch(["one"], java=JAVA)
    assert [jar.state for jar in jars.fetch(["one"], force=True, java=JAVA)] == ["ready"]
    assert fetcher.fetched == ["g:one:1", "g:one:1"]


def test_list_tells_missing_from_ready(tmp_path):
    jars = cache(tmp_path, Fetcher())
    jars.ensure(["one"], java=JAVA)
    listed = {jar.coordinates: (jar.state, jar.size, jar.connectors) for jar in jars.list()}
    assert listed == {
        "g:one:1": ("ready", 13, ("one", "both")),
        "g:two:2": ("missing", None, ("both",)),
    }
    assert jars.list()[0].to_json()["state"] == "ready"


def test_the_conf_of_connectors_adds_up(tmp_path):
    assert cache(tmp_path, Fetcher()).conf(["one", "both"]) == {
        "spark.sql.extensions": "A,B",
        "spark.x": "y",
    }
