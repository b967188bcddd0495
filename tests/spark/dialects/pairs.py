"""The corpus: queries, each under a comment that says what must become of it.

A file is named after the dialect its queries are written in and the one they run in.

- `agrees`: both engines give the same rows;
- `fails`: both engines raise an error;
- `stops`: the source gives an answer that the other engine cannot, and raises an error instead;
- `refused: why`: the translation is refused, with this reason.

What must never happen, and has no word here: two different answers, or an answer where the
source raises an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CORPUS = Path(__file__).parent / "corpus"
_ENTRY = re.compile(r"^-- (agrees|fails|stops|refused)(?:: (.+))?\n(.+?);$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One query and what is expected of it."""

    read: str
    write: str
    line: int
    expected: str
    reason: str
    query: str

    def __str__(self) -> str:
        return f"{self.read}-{self.write}-{self.line}"


def pairs() -> Iterator[Pair]:
    """Read the whole corpus."""
    for path in sorted(_CORPUS.glob("*.sql")):
        read, _, write = path.stem.partition("-to-")
        text = path.read_text(encoding="utf-8")
        for found in _ENTRY.finditer(text):
            yield Pair(
                read=read,
                write=write,
                line=text.count("\n", 0, found.start(3)) + 1,
                expected=found[1],
                reason=found[2] or "",
                query=found[3],
            )
