"""A missing package is named together with the extra that brings it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ematix_flow.engine.choice import choose
from ematix_flow.engine.host import installed
from ematix_flow.engine.host.machine import Machine
from ematix_flow.engine.opening import open_engine
from ematix_flow.engine.spark.sail import sail_server
from ematix_flow.engine.spark.sizing import size
from ematix_flow.errors import EngineError


def test_without_pyspark_the_extra_is_named(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(installed, "find_spec", lambda _: None)
    sizing = size(Machine(cores=1, memory_bytes=1 << 30))
    opening = open_engine(choose(None, {}, None), sizing=sizing, state_dir=tmp_path)
    with pytest.raises(EngineError, match=r"pip install 'ematix-flow\[spark\]'"), opening:
        pass
    assert list(tmp_path.iterdir()) == []


def test_without_pysail_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pysail", None)
    monkeypatch.setitem(sys.modules, "pysail.spark", None)
    with pytest.raises(EngineError, match=r"pip install 'ematix-flow\[sail\]'"), sail_server():
        pass
