"""The unprivileged account a server runs under when the tests run as root.

PostgreSQL refuses to run as root, and MariaDB should not: its SQL can read and write files. For
anybody else there is nothing to drop and the servers run as the caller.
"""

from __future__ import annotations

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    name: str
    uid: int
    gid: int

    def reaches(self, path: Path) -> bool:
        """Whether this account may enter `path` and every folder above it.

        Root's home is closed to others on most systems, so a server that gave up root cannot
        keep its data under the default services home.
        """
        return all(self._enters(folder) for folder in (path, *path.parents))

    def _enters(self, folder: Path) -> bool:
        status = folder.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)


def unprivileged(name: str) -> Account | None:
    """The account `name` for root to step down to; None when there is no root to give up."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam(name)
    return Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)


def write_private(path: Path, text: str, owner: Account | None) -> None:
    """Write a file that only the server's account (and root) can read."""
    path.touch(mode=0o600)
    path.write_text(text)
    if owner is not None:
        os.chown(path, owner.uid, owner.gid)
