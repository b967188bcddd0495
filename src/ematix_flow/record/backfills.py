"""Backfills that have begun and not ended: what a repeated order goes on with.

What a chunk has done is in the target's ledger; here is only the id that finds it there.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from uuid import UUID

from ematix_flow._base.files import PRIVATE_FILE, private_directory, write_whole
from ematix_flow.errors import ConfigError

_CHUNK_BITS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """One order to load a part of the past again.

    :param moves_watermark: Whether it reaches down to what has been loaded, so that runs may go
        on from where it ends.
    """

    id: str
    pipeline: str
    start: str
    end: str
    chunk: str | None
    moves_watermark: bool

    def run_id(self, number: int) -> str:
        """Return the run of a chunk: the same one each time, and in order."""
        mask = (1 << _CHUNK_BITS) - 1
        return str(UUID(int=UUID(self.id).int & ~mask | number))

    def is_same_order(self, other: Backfill) -> bool:
        """Tell whether both ask for the same."""
        return replace(self, id=other.id, moves_watermark=other.moves_watermark) == other


@dataclass(frozen=True, slots=True)
class Backfills:
    """The open backfill of each pipeline, in a file."""

    folder: Path

    def begin(self, wanted: Backfill, *, new: bool) -> tuple[Backfill, bool]:
        """Return the backfill to carry out, and whether it goes on with one that never ended."""
        known = None if new else self._open(wanted.pipeline)
        if known is not None and known.is_same_order(wanted):
            return known, True
        content = json.dumps(asdict(wanted)).encode()
        try:
            private_directory(self.folder)
            write_whole(self._file(wanted.pipeline), content, mode=PRIVATE_FILE)
        except OSError as error:
            raise ConfigError(
                f"how far a backfill comes cannot be written to {str(self.folder)!r}: "
                f"{error.strerror}",
                hint="make the project folder writable; nothing was loaded",
            ) from error
        return wanted, False

    def end(self, backfill: Backfill) -> None:
        """Forget it: the same order given again is another one."""
        self._file(backfill.pipeline).unlink(missing_ok=True)

    def _open(self, pipeline: str) -> Backfill | None:
        try:
            facts = json.loads(self._file(pipeline).read_text(encoding="utf-8"))
            return Backfill(**facts)
        except (OSError, ValueError, TypeError):
            return None

    def _file(self, pipeline: str) -> Path:
        return self.folder / f"{pipeline}.json"
