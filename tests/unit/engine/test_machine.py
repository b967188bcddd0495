"""Cores and memory as the container allows them, from made-up control groups."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ematix_flow.engine.host.machine import GIB, this_machine


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path, "proc/meminfo", f"MemTotal:       {32 * GIB // 1024} kB\nMemFree: 1 kB\n")
    return tmp_path


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_without_limits_the_whole_machine(root):
    found = this_machine(root)
    assert (found.cores, found.memory_bytes) == (8, 32 * GIB)


@pytest.mark.proves("sizing")
def test_cgroup_v2_limits_inside_a_container(root):
    put(root, "proc/self/cgroup", "0::/\n")
    put(root, "sys/fs/cgroup/cpu.max", "250000 100000\n")
    put(root, "sys/fs/cgroup/memory.max", f"{4 * GIB}\n")
    found = this_machine(root)
    assert (found.cores, found.memory_bytes) == (3, 4 * GIB)


def test_cgroup_v2_without_limits(root):
    put(root, "proc/self/cgroup", "0::/\n")
    put(root, "sys/fs/cgroup/cpu.max", "max 100000\n")
    put(root, "sys/fs/cgroup/memory.max", "max\n")
    found = this_machine(root)
    assert (found.cores, found.memory_bytes) == (8, 32 * GIB)


def test_the_tightest_group_above_us_counts(root):
    put(root, "proc/self/cgroup", "0::/slice/service\n")
    put(root, "sys/fs/cgroup/slice/memory.max", f"{2 * GIB}\n")
    put(root, "sys/fs/cgroup/slice/service/memory.max", f"{8 * GIB}\n")
    put(root, "sys/fs/cgroup/slice/service/cpu.max", "100000 100000\n")
    found = this_machine(root)
    assert (found.cores, found.memory_bytes) == (1, 2 * GIB)


def test_cgroup_v1_limits(root):
    put(root, "proc/self/cgroup", "4:memory:/box\n1:cpu:/box\n")
    put(root, "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "400000\n")
    put(root, "sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n")
    put(root, "sys/fs/cgroup/memory/box/memory.limit_in_bytes", f"{6 * GIB}\n")
    found = this_machine(root)
    assert (found.cores, found.memory_bytes) == (4, 6 * GIB)


def test_cgroup_v1_without_limits(root):
    put(root, "proc/self/cgroup", "4:memory:/\n1:cpu:/\n")
    put(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
    put(root, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    found = this_machine(root)
    assert (found.cores, found.memory_bytes) == (8, 32 * GIB)


def test_a_half_core_is_one_core(root):
    put(root, "proc/self/cgroup", "0::/\n")
    put(root, "sys/fs/cgroup/cpu.max", "50000 100000\n")
    assert this_machine(root).cores == 1
