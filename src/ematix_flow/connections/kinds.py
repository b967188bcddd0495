"""The kinds of connections: what each is called, what it brings, whether it can be used yet."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points

from ematix_flow.connections.model import KINDS, Connection
from ematix_flow.errors import NotSupported, UnknownName

_BACKENDS = "ematix_flow.backends"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of connection.

    :param planned: It can be declared, but nothing installed reads or writes it.
    """

    name: str
    model: type[Connection]
    planned: bool

    @property
    def family(self) -> str:
        """The kinds it belongs to: files, brokers, warehouses ..."""
        return self.model.__module__.rpartition(".")[2]


def kind(name: str) -> Kind:
    """Return what is known of the kind *name*."""
    if name not in KINDS:
        raise UnknownName.among("kind of connection", name, KINDS)
    return Kind(name=name, model=KINDS[name], planned=name not in _with_backend())


def kinds() -> tuple[Kind, ...]:
    """Return every kind, family by family."""
    return tuple(kind(name) for name in KINDS)


def comes_later(name: str, *, where: str | None = None) -> NotSupported:
    """Build the error of a kind that nothing installed can read or write."""
    return NotSupported(
        f"kind {name!r}: connections can be declared, reading and writing comes later",
        where=where,
        hint=f"what can be read or written today: {', '.join(sorted(_with_backend()))}",
    )


@cache
def _with_backend() -> frozenset[str]:
    # By name only: a backend is loaded where it is used, above this layer.
    return frozenset(each.name for each in entry_points(group=_BACKENDS))
