"""What this machine gives us: cores and memory, as limited by its container.

The numbers of the host are wrong inside a container: a JVM sized to them is
killed. Control groups (v2 and v1) say what we may really use.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

GIB = 1024**3

# Without a readable limit (macOS, a locked-down container) assume a small laptop.
_FALLBACK_MEMORY = 4 * GIB
# cgroup v1 says "no limit" with a number near 2**63.
_UNLIMITED = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Cores and memory that one local Spark may use."""

    cores: int
    memory_bytes: int


def this_machine(root: Path = Path("/")) -> Machine:
    """Measure the machine.

    :param root: Where `proc` and `sys` are mounted; tests hand in a made-up tree.
    """
    groups = _groups(root)
    return Machine(cores=_cores(groups), memory_bytes=_memory(groups, root))


def _groups(root: Path) -> tuple[Path, ...]:
    """Return the control-group directories that bind us, innermost first.

    Inside a container the path in /proc/self/cgroup often is the host's, which
    is not mounted here; the mount's own root is then the one that counts.
    """
    found: list[Path] = []
    mount = root / "sys/fs/cgroup"
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        base = mount / controllers if controllers else mount
        inside = base / path.lstrip("/")
        found += [inside, *(up for up in inside.parents if up.is_relative_to(base))]
    found += [mount, mount / "cpu", mount / "memory"]
    return tuple(dict.fromkeys(found))


def _cores(groups: tuple[Path, ...]) -> int:
    available = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    quotas = [quota for group in groups if (quota := _cpu_quota(group)) is not None]
    return max(1, min([available, *(math.ceil(quota) for quota in quotas)]))


def _cpu_quota(group: Path) -> float | None:
    quota, _, period = _text(group / "cpu.max").partition(" ")
    if not quota:
        quota = _text(group / "cpu.cfs_quota_us")
        period = _text(group / "cpu.cfs_period_us")
    if quota.isdigit() and period.isdigit() and int(quota) > 0 and int(period) > 0:
        return int(quota) / int(period)
    return None  # "max", "-1" or no such file: unlimited


def _memory(groups: tuple[Path, ...], root: Path) -> int:
    limits = [
        int(text)
        for group in groups
        for name in ("memory.max", "memory.limit_in_bytes")
        if (text := _text(group / name)).isdigit() and 0 < int(text) < _UNLIMITED
    ]
    return min([_physical_memory(root), *limits])


def _physical_memory(root: Path) -> int:
    for line in _text(root / "proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return _FALLBACK_MEMORY


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
