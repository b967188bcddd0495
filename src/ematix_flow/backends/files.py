"""Named tables in a file or a folder, found and checked without reading a row.

A table is a file `orders.csv`, or a folder `orders/` of such files and nothing else:
what has been checked is what Spark is told to read. Names that begin with `_` or `.`
are passed over, as Spark does; any other file, and any folder in it, is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ematix_flow._base.suggest import did_you_mean
from ematix_flow.errors import NotSupported, SourceError, SourceMissing
from ematix_flow.ports import SourceFacts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# First bytes that tell what a file really is, whatever its name says.
_SIGNATURES = (
    (b"PAR1", "Parquet"),
    (b"ORC", "ORC"),
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "a zip archive (perhaps .xlsx)"),
    (b"SQLite format 3\x00", "SQLite"),
    (b"Obj\x01", "Avro"),
    (b"%PDF-", "PDF"),
)
# A header may begin with these words too (`ORCID,...`): there the binary rest decides.
_ALSO_WORDS = (b"PAR1", b"ORC")
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
# Spark lists more paths than this with a job of its own.
_LISTED_BY_THE_DRIVER = 32
_HADOOP_GLOB = re.compile(r"([\\\[\]{}*?])")
_SAIL_GLOB = re.compile(r"([\[\]{}*?])")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFiles:
    """The files behind one relation; *path* is the file, or the folder that holds them alone."""

    path: Path
    files: tuple[Path, ...]

    @property
    def facts(self) -> SourceFacts:
        """Their number and size."""
        size = sum(file.stat().st_size for file in self.files)
        many = f"{len(self.files)} files" if len(self.files) != 1 else "1 file"
        return SourceFacts(description=f"{self.path.name}, {many}, {size:,} bytes", size_bytes=size)

    def paths(self, spark: SparkSession) -> list[str]:
        """Return what Spark is to read: these files, escaped where it would see a pattern."""
        few = len(self.files) <= _LISTED_BY_THE_DRIVER
        texts = [str(path) for path in (self.files if few else (self.path,))]
        if not any(map(_HADOOP_GLOB.search, texts)):
            return texts
        if _is_sail(spark):
            return [_SAIL_GLOB.sub(r"[\1]", text) for text in texts]
        return [_HADOOP_GLOB.sub(r"\\\1", text) for text in texts]


def find_files(root: Path, relation: str, suffix: str) -> FoundFiles:
    """Return the files of *relation*: *root* itself, or what *root* holds under that name."""
    try:
        return _find(root, relation, suffix)
    except OSError as error:
        place = str(error.filename or root)
        raise SourceError(f"{place!r} cannot be read: {error.strerror}") from error


def _find(root: Path, relation: str, suffix: str) -> FoundFiles:
    if root.is_file():
        if relation not in (root.stem, root.name):
            raise SourceError(
                f"there is no table {relation!r}: the connection is the one file {root.name}, "
                f"whose table is {root.stem!r}",
                hint=f"read from {root.stem}, or point the connection at a folder",
            )
        return _one_file(root)
    if not root.is_dir():
        raise SourceMissing(f"{str(root)!r} does not exist")
    wanted = Path(relation)
    if wanted.is_absolute() or ".." in wanted.parts or not wanted.name:
        raise SourceError(f"table {relation!r} is outside of the connection's folder")
    place = root / wanted.parent
    entries = sorted(place.iterdir()) if place.is_dir() else []
    candidates = [
        entry
        for entry in entries
        if entry.name == wanted.name or (entry.stem == wanted.name and _has(entry, suffix))
    ]
    match candidates:
        case [folder] if folder.is_dir():
            return FoundFiles(path=folder, files=_files_in(folder, suffix))
        case [file]:
            return _one_file(file)
        case [one, other, *_]:
            raise SourceError(
                f"table {relation!r} could be {str(one)!r} or {str(other)!r}",
                hint="keep one of them, or rename it",
            )
    known = sorted({entry.stem for entry in entries if _has(entry, suffix)})
    raise SourceMissing(
        f"there is no {relation}{suffix} in {str(root)!r}"
        + did_you_mean(relation, known)
        + (f" (it has: {', '.join(known)})" if known else f" (it has no {suffix} file)"),
    )


def _one_file(file: Path) -> FoundFiles:
    if file.name.startswith(("_", ".")):
        raise SourceError(
            f"{str(file)!r} is hidden: Spark passes over names that begin with _ or .",
            hint="rename it",
        )
    return FoundFiles(path=file, files=(file,))


def _files_in(folder: Path, suffix: str) -> tuple[Path, ...]:
    """Return the files of a folder that is one table, and refuse what else is in it."""
    visible = [entry for entry in sorted(folder.iterdir()) if not _hidden(entry.name)]
    for entry in visible:
        if entry.is_dir() and "=" in entry.name:
            raise NotSupported(
                f"{str(folder)!r} is partitioned ({entry.name}/): that is not built yet",
                hint=f"put its {suffix} files into one folder",
            )
        if entry.is_dir():
            raise SourceError(
                f"folder {str(folder)!r} holds the folder {entry.name!r}: a table's folder holds "
                f"{suffix} files only",
                hint="move it elsewhere, or put its files beside the others",
            )
        if not _has(entry, suffix) or entry.name.startswith("_"):
            raise SourceError(
                f"folder {str(folder)!r} holds {entry.name!r}, which is no {suffix} file: "
                f"Spark would read it too",
                hint="move it elsewhere, or put a . before its name",
            )
    if not visible:
        raise SourceError(f"folder {str(folder)!r} holds no {suffix} file")
    return tuple(visible)


def _has(entry: Path, suffix: str) -> bool:
    return entry.suffix.lower() == suffix


def _hidden(name: str) -> bool:
    """Tell what Spark passes over in a folder: not `_k=v`, which it takes for a partition."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _is_sail(spark: SparkSession) -> bool:
    """Tell Sail, which has patterns of its own, from a Spark behind the same protocol."""
    if not type(spark).__module__.startswith("pyspark.sql.connect."):
        return False
    [told] = spark.sql("SELECT version()").collect()
    return not str(told[0]).startswith(spark.version)


def check_each(found: FoundFiles, check: Callable[[Path, bytes], str | None]) -> FoundFiles:
    """Refuse the first file that is empty or that *check* (path, first bytes) finds wrong."""
    for file in found.files:
        try:
            with file.open("rb") as opened:
                start = opened.read(64 * 1024)
            problem = check(file, start) if start else None
        except OSError as error:
            raise SourceError(f"{str(file)!r} cannot be read: {error.strerror}") from error
        if not start:
            raise SourceError(
                f"{str(file)!r} is empty (0 bytes)",
                hint="was it written whole? remove or rewrite it",
            )
        if problem:
            raise SourceError(f"{str(file)!r} {problem}")
    return found


def real_format(start: bytes) -> str | None:
    """Return the binary format that *start* begins, or None."""
    for magic, name in _SIGNATURES:
        if start.startswith(magic):
            return name if magic not in _ALSO_WORDS or _BINARY.search(start) else None
    return None
