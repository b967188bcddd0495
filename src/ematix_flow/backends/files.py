"""Named tables in a file or a folder, found and checked without reading a row."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ematix_flow._base.suggest import nearest
from ematix_flow.errors import SourceError, SourceMissing
from ematix_flow.ports import SourceFacts

# First bytes that tell what a file really is, whatever its name says.
_SIGNATURES = (
    (b"PAR1", "Parquet"),
    (b"ORC", "ORC"),
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "a zip archive (perhaps .xlsx)"),
    (b"SQLite format 3\x00", "SQLite"),
    (b"Obj\x01", "Avro"),
    (b"%PDF", "PDF"),
)
_HADOOP_GLOB = re.compile(r"([\\\[\]{}*?])")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFiles:
    """The files behind one relation."""

    path: Path
    files: tuple[Path, ...]

    @property
    def facts(self) -> SourceFacts:
        """Their number and size."""
        size = sum(file.stat().st_size for file in self.files)
        many = f"{len(self.files)} files" if len(self.files) != 1 else "1 file"
        return SourceFacts(description=f"{self.path.name}, {many}, {size:,} bytes", size_bytes=size)

    @property
    def uri(self) -> str:
        """The path as Spark wants it: characters that would be a glob pattern are escaped."""
        return _HADOOP_GLOB.sub(r"\\\1", str(self.path))


def find_files(root: Path, relation: str, suffix: str) -> FoundFiles:
    """Return the files of *relation*: *root* itself, or what *root* holds under that name."""
    if root.is_file():
        if relation not in (root.stem, root.name):
            raise SourceError(
                f"there is no table {relation!r}: the connection is the one file {root.name}, "
                f"whose table is {root.stem!r}",
                hint=f"read from {root.stem}, or point the connection at a folder",
            )
        return FoundFiles(path=root, files=(root,))
    if not root.is_dir():
        raise SourceMissing(f"{str(root)!r} does not exist")
    if Path(relation).is_absolute() or ".." in Path(relation).parts:
        raise SourceError(f"table {relation!r} is outside of the connection's folder")
    for candidate in (root / f"{relation}{suffix}", root / relation):
        if candidate.is_file():
            return FoundFiles(path=candidate, files=(candidate,))
    folder = root / relation
    if folder.is_dir():
        files = tuple(sorted(folder.rglob(f"*{suffix}")))
        if not files:
            raise SourceError(f"folder {str(folder)!r} holds no {suffix} file")
        return FoundFiles(path=folder, files=files)
    known = sorted({path.stem for path in root.glob(f"*{suffix}")})
    guess = nearest(relation, known)
    raise SourceMissing(
        f"there is no {relation}{suffix} in {str(root)!r}"
        + (f"; did you mean {guess!r}?" if guess else "")
        + (f" (it has: {', '.join(known)})" if known else " (it is empty)"),
    )


def check_each(found: FoundFiles, check: Callable[[Path, bytes], str | None]) -> FoundFiles:
    """Refuse the first file that is empty or that *check* (path, first bytes) finds wrong."""
    for file in found.files:
        try:
            with file.open("rb") as opened:
                start = opened.read(64 * 1024)
        except OSError as error:
            raise SourceError(f"{str(file)!r} cannot be read: {error.strerror}") from error
        if not start:
            raise SourceError(
                f"{str(file)!r} is empty (0 bytes)",
                hint="was it written whole? remove or rewrite it",
            )
        problem = check(file, start)
        if problem:
            raise SourceError(f"{str(file)!r} {problem}")
    return found


def real_format(start: bytes) -> str | None:
    """Return the binary format that *start* begins, or None."""
    return next((name for magic, name in _SIGNATURES if start.startswith(magic)), None)
