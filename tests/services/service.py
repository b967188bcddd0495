"""The contract between a server and whoever runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from tests.services.account import Account


class CannotInstall(Exception):
    """The server cannot be had on this machine; the text is the reason a skipped test shows.

    Kept apart from `CannotStart`: a missing server is the machine's business and skips tests on a
    laptop, a server that is there and does not start is a defect and always fails them.
    """


class CannotStart(Exception):
    """The server is installed but did not come up; the text carries the end of its log."""


class PortTaken(CannotStart):
    """Somebody bound the port between our probe and the server's start; another port will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server that answers, and all a client needs to reach it.

    `facts` holds what only some servers have (dsn, users, certificates). It stays out of the repr
    because pytest prints reprs of fixtures and the facts hold passwords.
    """

    name: str
    host: str
    port: int
    ports: Mapping[str, int]
    data_dir: Path
    pid: int
    facts: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        # A session-wide fixture is shared by all tests: none may change it under the others.
        object.__setattr__(self, "ports", MappingProxyType(dict(self.ports)))
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))


class Service(Protocol):
    """One kind of server: how to get it, start it, recognise it and end it."""

    @property
    def name(self) -> str: ...

    def install(self) -> None:
        """Make the server's programs available, or raise `CannotInstall`."""

    def account(self) -> Account | None:
        """The account the server must run under; None for the caller's own."""

    def start(self, directory: Path) -> Running:
        """Start on free loopback ports with all files in `directory`; return once it answers."""

    def is_ours(self, running: Running) -> bool:
        """Whether the server on the port says it is this very one; False if nothing answers."""

    def stop(self, running: Running) -> None:
        """End the process, by its pid."""
