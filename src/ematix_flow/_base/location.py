"""Where in the user's code a thing was declared."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A file and a line, printed as editors understand it."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{_shortest(self.file)}:{self.line}"


def caller_location() -> Location:
    """Return the nearest frame outside this package: the user's own line."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    if frame is None:
        return Location("<unknown>", 0)
    return Location(frame.f_code.co_filename, frame.f_lineno)


def _is_ours(frame: FrameType) -> bool:
    # A dataclass's own __init__ has no file, but the names of our module.
    generated = frame.f_code.co_filename.startswith("<")
    if generated and str(frame.f_globals.get("__name__", "")).startswith(f"{_PACKAGE.name}."):
        return True
    return Path(frame.f_code.co_filename).is_relative_to(_PACKAGE)


def _shortest(file: str) -> str:
    path = Path(file)
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return file
