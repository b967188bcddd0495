"""The promises, as rules.toml lists them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("rules.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """Rules that belong together, by name."""

    title: str
    rules: dict[str, str]


@cache
def chapters() -> tuple[Chapter, ...]:
    """Return all chapters in the order of the file."""
    read = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(
        Chapter(
            title=chapter["title"],
            rules={name: text for name, text in chapter.items() if name != "title"},
        )
        for chapter in read.values()
    )


@cache
def rules() -> dict[str, str]:
    """Return what each rule says, by its name."""
    found: dict[str, str] = {}
    for chapter in chapters():
        if twice := found.keys() & chapter.rules.keys():
            raise ValueError(f"two rules are named {', '.join(sorted(twice))}")
        found |= chapter.rules
    return found
