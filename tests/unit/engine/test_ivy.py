"""What Ivy is told, and what is made of its answers."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from ematix_flow.engine.host.java import Java
from ematix_flow.engine.jars import ivy
from ematix_flow.engine.jars.lock import LockedJar
from ematix_flow.errors import JarError

JARS = (LockedJar("g:plain:1.0", "0" * 64), LockedJar("g:with:2:all", "0" * 64))


def test_only_the_named_jars_are_asked_for():
    module = ET.fromstring(ivy._module(JARS))
    asked = module.findall("./dependencies/dependency")
    assert [(one.get("name"), one.get("rev"), one.get("transitive")) for one in asked] == [
        ("plain", "1.0", "false"),
        ("with", "2", "false"),
    ]
    assert asked[1].find("artifact").attrib["{http://ant.apache.org/ivy/maven}classifier"] == "all"


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (
            "x\n\tServer access error at url http://h/a.jar (java.net.ConnectException: refused)\n",
            "java.net.ConnectException: refused",
        ),
        (":: UNRESOLVED DEPENDENCY: g#plain;1.0: not found", "UNRESOLVED DEPENDENCY: g#plain;1.0"),
        ("", "Ivy said nothing"),
        ("something\nat last", "at last"),
    ],
)
def test_the_telling_line_is_found(output, reason):
    assert ivy._reason(output) == reason


def test_settings_that_are_no_file_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("EMATIX_FLOW_IVY_SETTINGS", str(tmp_path / "none.xml"))
    java = Java(home=Path("/nowhere"), version="17", origin="test")
    with pytest.raises(JarError, match="EMATIX_FLOW_IVY_SETTINGS"):
        ivy.fetch_with_ivy(JARS, tmp_path, java)
