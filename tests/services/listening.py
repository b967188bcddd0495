"""The addresses a process listens on, from the kernel rather than from its configuration."""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LISTEN = "0A"


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        address = ipaddress.ip_address(self.host)
        # The JVM binds IPv4 addresses through IPv6 sockets; the mapped form counts as itself.
        mapped = getattr(address, "ipv4_mapped", None)
        return bool((mapped or address).is_loopback)


def listening(pid: int) -> frozenset[Address]:
    """All TCP addresses that `pid` accepts connections on."""
    inodes = _socket_inodes(pid)
    return frozenset(address for inode, address in _listeners(pid) if inode in inodes)


def _socket_inodes(pid: int) -> frozenset[str]:
    targets = []
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            targets.append(str(descriptor.readlink()))
        except FileNotFoundError:
            continue  # closed since the folder was listed
    return frozenset(
        target.removeprefix("socket:[").removesuffix("]")
        for target in targets
        if target.startswith("socket:[")
    )


def _listeners(pid: int) -> Iterator[tuple[str, Address]]:
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN:
                host, port = fields[1].split(":")
                yield fields[9], Address(_readable(host), int(port, 16))


def _readable(hexadecimal: str) -> str:
    """The kernel prints addresses as 32-bit words in the machine's byte order."""
    words = [
        int(hexadecimal[start : start + 8], 16).to_bytes(4, sys.byteorder)
        for start in range(0, len(hexadecimal), 8)
    ]
    packed = b"".join(words)
    return str(ipaddress.IPv4Address(packed) if len(packed) == 4 else ipaddress.IPv6Address(packed))
