"""Installs are built once, and again when damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.cache import MANIFEST, cached


class Build:
    """A build that takes no time and counts itself."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, into: Path) -> None:
        self.times += 1
        (into / "program").write_text("content")


def test_an_intact_install_is_built_once(tmp_path: Path) -> None:
    build = Build()
    first = cached(tmp_path / "tool-1", build)
    assert cached(tmp_path / "tool-1", build) == first
    assert build.times == 1
    assert (first / "program").read_text() == "content"


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "program").write_text("cont"),
        lambda folder: (folder / "program").unlink(),
        lambda folder: (folder / MANIFEST).unlink(),
        lambda folder: (folder / MANIFEST).write_text("{"),
    ],
    ids=["truncated", "absent", "unfinished", "broken manifest"],
)
def test_a_damaged_install_is_built_again(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    build = Build()
    damage(cached(tmp_path / "tool-1", build))
    assert (cached(tmp_path / "tool-1", build) / "program").read_text() == "content"
    assert build.times == 2


def test_a_failed_build_leaves_nothing_that_looks_like_an_install(tmp_path: Path) -> None:
    def fail(into: Path) -> None:
        (into / "program").write_text("half")
        raise RuntimeError("no network")

    with pytest.raises(RuntimeError):
        cached(tmp_path / "tool-1", fail)
    assert not (tmp_path / "tool-1").exists()
    assert (cached(tmp_path / "tool-1", Build()) / "program").read_text() == "content"
