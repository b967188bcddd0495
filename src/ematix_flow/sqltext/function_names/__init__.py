"""The functions each engine has, as the engine itself listed them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def functions(dialect: str) -> frozenset[str]:
    """Return the names of *dialect*'s functions in lower case; none where no list is kept."""
    listed = files(__package__) / f"{dialect}.txt"
    if not listed.is_file():
        return frozenset()
    return frozenset(listed.read_text(encoding="utf-8").split())
