"""Something listens where MySQL should, and says nothing: at first, or after its greeting."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from ematix_flow.backends.registry import backends
from ematix_flow.connections.model import MySQLConnection
from ematix_flow.errors import SourceUnreachable

pytestmark = pytest.mark.slow

# CLIENT_PROTOCOL_41, CLIENT_SSL, CLIENT_SECURE_CONNECTION and CLIENT_PLUGIN_AUTH.
_CAN = 0x200 | 0x800 | 0x8000 | 0x80000
_GREETING = (
    b"\x0a8.0.36\0"
    + struct.pack("<I8sxHBHHB10x", 1, b"saltsalt", _CAN & 0xFFFF, 45, 2, _CAN >> 16, 21)
    + b"saltsaltsalt\0mysql_native_password\0"
)


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    """A socket that the kernel connects clients to; whoever accepts them may speak."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def look(listening: socket.socket) -> None:
    place = MySQLConnection(
        name="shop",
        host="127.0.0.1",
        port=listening.getsockname()[1],
        database="shop",
        user="app",
        connect_timeout=1,
    )
    backends()["mysql"].reader(place).inspect(None)


@pytest.mark.timeout(30)
@pytest.mark.proves("bad-database", "retryable")
def test_a_server_that_never_says_a_word_is_not_waited_for(listening):
    with pytest.raises(SourceUnreachable, match="took the connection, but does not answer"):
        look(listening)


@pytest.mark.timeout(30)
@pytest.mark.proves("bad-database", "retryable")
def test_a_server_that_greets_and_falls_silent_is_not_waited_for(listening):
    accepted: list[socket.socket] = []

    def greet() -> None:
        client, _ = listening.accept()
        accepted.append(client)
        client.sendall(struct.pack("<I", len(_GREETING)) + _GREETING)

    greeting = threading.Thread(target=greet, daemon=True)
    greeting.start()
    with pytest.raises(SourceUnreachable, match=r"cannot be reached: .*timed out"):
        look(listening)
    greeting.join(10)
    accepted[0].close()
