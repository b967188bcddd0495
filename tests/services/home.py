"""Where the services live on disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.services.account import Account
from tests.services.service import CannotStart

VARIABLE = "EMATIX_FLOW_TEST_SERVICES"


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds installs, state, locks and data of the test services.

    Two homes know nothing of each other's servers, which is how the tests of this package get
    servers of their own.
    """

    root: Path

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Home:
        chosen = environment.get(VARIABLE)
        root = Path(chosen) if chosen else Path.home() / ".cache" / "ematix-flow" / "test-services"
        # Resolved, because servers report their data directory without symbolic links.
        return cls(root.expanduser().resolve())

    @property
    def installs(self) -> Path:
        return _made(self.root / "installs")

    def state_file(self, name: str) -> Path:
        # Closed to others: state files hold the passwords of the running servers.
        return _made(self.root / "state", mode=0o700) / f"{name}.json"

    def change_lock(self, name: str) -> Path:
        return _made(self.root / "locks") / f"{name}.lock"

    def use_lock(self, name: str) -> Path:
        return _made(self.root / "locks") / f"{name}.users"

    def new_directory(self, name: str, token: str, account: Account | None) -> Path:
        """An empty private folder for one server, owned by the account it runs under.

        Outside the home where the account cannot enter it (root's home is closed to others).
        """
        parents = (_made(self.root / "data"), Path(tempfile.gettempdir()), Path("/var/tmp"))
        for parent in parents:
            if account is None or account.reaches(parent.resolve()):
                made = Path(
                    tempfile.mkdtemp(prefix=f"ematix-flow-{name}-{token}-", dir=parent.resolve())
                )
                if account is not None:
                    os.chown(made, account.uid, account.gid)
                return made
        raise CannotStart(f"no folder for {name} data that {account} can enter, tried {parents}")


def _made(folder: Path, mode: int = 0o755) -> Path:
    folder.mkdir(mode=mode, parents=True, exist_ok=True)
    return folder
