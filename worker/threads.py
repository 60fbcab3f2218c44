"""Processor cores this process may really use, and the threads that follow from them.

A container sees all cores of its host, but may be held to fewer by its affinity, its cpuset or a quota of processor
time. More threads than that make every operator slower, so the smallest of the three counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")
V1_CONTROLLERS = ("cpu", "cpu,cpuacct", "cpuacct,cpu")


def allotted_cores(root: Path = ROOT, affinity: int | None = None) -> int:
    """Whole cores, at least 1. A quota of 1.5 cores gives 1: the half would only be throttled."""
    return max(1, int(allotted_share(root, affinity)))


def allotted_share(root: Path = ROOT, affinity: int | None = None) -> float:
    """Cores, in parts where a quota says so: the least of the affinity mask, the cgroup's cpuset and its quota.

    ``root`` is the folder under which proc/self/cgroup and sys/fs/cgroup lie; ``affinity`` the number of processors
    in the affinity mask, asked of the kernel if None.
    """
    return min(float(_affinity() if affinity is None else affinity), *_quotas(root), *_cpusets(root), float("inf"))


def granted_threads(wanted: int, cores: int, sharing: int = 1) -> int:
    """Threads for each of ``sharing`` devices on ``cores``: as many as wanted, while their sum stays within the cores.

    Never less than 1, so more devices than cores take one thread each.
    """
    return max(1, min(wanted, cores // max(1, sharing)))


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quotas(root: Path) -> Iterator[float]:
    """Cores by quota of every cgroup from ours to the top, for any of them may be the tightest."""
    for folder in _folders(root, ""):
        words = _words(folder / "cpu.max")
        if len(words) == 2 and words[0] != "max":
            yield int(words[0]) / int(words[1])
    for controller in V1_CONTROLLERS:
        for folder in _folders(root, controller):
            quota, period = _words(folder / "cpu.cfs_quota_us"), _words(folder / "cpu.cfs_period_us")
            if quota and period and int(quota[0]) > 0:
                yield int(quota[0]) / int(period[0])


def _cpusets(root: Path) -> Iterator[float]:
    """Processors in the cpusets we are in."""
    files = [folder / "cpuset.cpus.effective" for folder in _folders(root, "")]
    for name in ("cpuset.effective_cpus", "cpuset.cpus"):
        files += [folder / name for folder in _folders(root, "cpuset")]
    for file in files:
        for word in _words(file):
            yield float(count_processors(word))


def count_processors(ranges: str) -> int:
    """Processors in a kernel list such as ``0-3,8``."""
    ends = (part.split("-") for part in ranges.split(","))
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)


def _folders(root: Path, controller: str) -> list[Path]:
    """Our cgroup's folder under a v1 controller, or the v2 hierarchy for "", and every folder above it.

    A container that sees only its own part of the tree has it at the mount itself, which is always included.
    """
    mount = root / "sys/fs/cgroup" / controller
    folder = mount / _membership(root, controller).lstrip("/")
    return [one for one in (folder, *folder.parents) if one == mount or mount in one.parents]


def _membership(root: Path, controller: str) -> str:
    """Our path in the hierarchy, from lines such as ``0::/system.slice`` or ``4:cpu,cpuacct:/docker/12ab``."""
    wanted = set(controller.split(","))
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if set(controllers.split(",")) & wanted:
            return path
    return "/"


def _words(file: Path) -> list[str]:
    return _text(file).split()


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except OSError:
        return ""
