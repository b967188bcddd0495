"""Free loopback ports, and trying again when somebody else takes one first."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack

from tests.services.service import PortTaken, Running

LOOPBACK = "127.0.0.1"

PortPicker = Callable[[int], tuple[int, ...]]


def free_ports(count: int) -> tuple[int, ...]:
    """Ask the kernel for `count` different ports that nobody listens on.

    All are held until the last one is found, otherwise the kernel may hand out one twice.
    """
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in sockets:
            probe.bind((LOOPBACK, 0))
        return tuple(probe.getsockname()[1] for probe in sockets)


def on_free_ports(
    count: int, serve: Callable[[tuple[int, ...]], Running], *, pick: PortPicker, tries: int = 5
) -> Running:
    """Serve on free ports, with new ones each time the race for the last was lost.

    The probe has to let go of a port before the server can bind it, so losing it is normal.
    """
    for _ in range(tries - 1):
        try:
            return serve(pick(count))
        except PortTaken:
            continue
    return serve(pick(count))


def accepts(port: int) -> bool:
    """Whether something takes connections on the loopback port."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=1):
            return True
    except OSError:
        return False
