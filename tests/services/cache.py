"""Downloaded or compiled programs, kept between runs and rebuilt when damaged."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.services.lock import exclusive

MANIFEST = "manifest.json"


def cached(directory: Path, build: Callable[[Path], None]) -> Path:
    """`directory` as `build` filled it, building only if it is absent or not as it was left.

    The name of the directory has to say what is in it (the version, the digest of a pom): that
    is the only thing that tells an old build from a wanted one.
    """
    with exclusive(directory.with_name(directory.name + ".lock")):
        if not is_intact(directory):
            draft = directory.with_name(directory.name + ".draft")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            build(draft)
            (draft / MANIFEST).write_text(json.dumps(_digests(draft), indent=2) + "\n")
            shutil.rmtree(directory, ignore_errors=True)
            draft.rename(directory)
    return directory


def is_intact(directory: Path) -> bool:
    """Whether every file is there with the content it was built with.

    Contents, not only names: a full disk or a killed download leaves files of the right name.
    """
    try:
        recorded = json.loads((directory / MANIFEST).read_text())
        return bool(recorded) and recorded == _digests(directory)
    except (OSError, ValueError):
        return False


def _digests(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }
