"""Which addresses a process and its children listen on, straight from /proc."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_LISTEN = "0A"


def descendants(pid: int) -> set[int]:
    """Return *pid* and all processes below it."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def listening(pid: int | None = None) -> list[str]:
    """Return the TCP addresses that *pid* (or this process) and its children listen on."""
    inodes = {inode for one in descendants(pid or os.getpid()) for inode in _sockets(one)}
    lines = [line for name in ("tcp", "tcp6") for line in _table(name)]
    return sorted({_address(fields[1]) for fields in lines if fields[9] in inodes})


def _sockets(pid: int) -> list[str]:
    links = []
    with suppress(OSError):  # the process is gone
        for descriptor in list(Path(f"/proc/{pid}/fd").iterdir()):
            with suppress(OSError):  # the descriptor is gone, as is the one that listed them
                links.append(str(descriptor.readlink()))
    return [link[8:-1] for link in links if link.startswith("socket:[")]


def _table(name: str) -> list[list[str]]:
    lines = Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    return [fields for line in lines if (fields := line.split())[3] == _LISTEN]


def _address(field: str) -> str:
    """Turn the kernel's hex words (each in host order) into an address."""
    words = field.partition(":")[0]
    raw = b"".join(bytes.fromhex(words[i : i + 8])[::-1] for i in range(0, len(words), 8))
    if len(raw) == 16 and raw[:12] == b"\0" * 10 + b"\xff\xff":
        raw = raw[12:]
    return ".".join(map(str, raw)) if len(raw) == 4 else raw.hex()
