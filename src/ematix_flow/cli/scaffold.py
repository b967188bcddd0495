"""Copying a project template."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ematix_flow.errors import UsageError


def copy_template(name: str, directory: Path) -> list[Path]:
    """Copy a template and return the files made; what is already there is never touched."""
    source = files("ematix_flow.cli") / "templates" / name
    planned = [(directory / relative, content) for relative, content in _contents(source)]
    for path, _ in planned:
        if path.exists():
            raise UsageError(
                f"{str(path)!r} already exists; nothing was changed",
                hint="choose an empty folder: flow init my-project",
            )
    for path, content in planned:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise UsageError(f"{str(path)!r} cannot be written: {error.strerror}") from error
    return [path for path, _ in planned]


def _contents(folder: Traversable, head: Path = Path()) -> list[tuple[Path, bytes]]:
    found: list[tuple[Path, bytes]] = []
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.name == "__pycache__":
            continue
        if entry.is_dir():
            found += _contents(entry, head / entry.name)
        else:
            found.append((head / entry.name, entry.read_bytes()))
    return found
