"""Threads follow the cores we are allotted, never the cores the host has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.worker.threads import allotted_cores, allotted_share, count_processors, granted_threads


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def test_without_any_limit_the_affinity_counts(tmp_path: Path) -> None:
    assert allotted_cores(tmp_path, affinity=64) == 64
    write(tmp_path, {"sys/fs/cgroup/cpu.max": "max 100000", "proc/self/cgroup": "0::/"})
    assert allotted_cores(tmp_path, affinity=64) == 64


def test_a_quota_of_one_core_gives_one_thread(tmp_path: Path) -> None:
    write(tmp_path, {"sys/fs/cgroup/cpu.max": "100000 100000", "proc/self/cgroup": "0::/"})
    assert granted_threads(8, allotted_cores(tmp_path, affinity=64)) == 1


def test_a_part_of_a_core_is_one_thread_but_is_told_apart_from_a_whole_one(tmp_path: Path) -> None:
    write(tmp_path, {"sys/fs/cgroup/cpu.max": "25000 100000", "proc/self/cgroup": "0::/"})
    assert allotted_cores(tmp_path, affinity=64) == 1
    assert allotted_share(tmp_path, affinity=64) == 0.25


def test_the_smallest_of_affinity_quota_and_cpuset_wins(tmp_path: Path) -> None:
    write(tmp_path, {"sys/fs/cgroup/cpu.max": "150000 100000", "proc/self/cgroup": "0::/"})
    assert allotted_cores(tmp_path, affinity=2) == 1
    write(tmp_path, {"sys/fs/cgroup/cpu.max": "800000 100000", "sys/fs/cgroup/cpuset.cpus.effective": "0-3,8"})
    assert allotted_cores(tmp_path, affinity=64) == 5
    assert allotted_cores(tmp_path, affinity=2) == 2


def test_a_quota_higher_up_the_tree_counts_too(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "0::/slice/service",
            "sys/fs/cgroup/slice/cpu.max": "300000 100000",
            "sys/fs/cgroup/slice/service/cpu.max": "max 100000",
        },
    )
    assert allotted_cores(tmp_path, affinity=64) == 3


def test_the_older_cgroups_are_read_as_well(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:cpu,cpuacct:/docker/ab\n3:cpuset:/docker/ab\n0::/",
            "sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_quota_us": "200000",
            "sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/cpuset/docker/ab/cpuset.cpus": "0-7",
        },
    )
    assert allotted_cores(tmp_path, affinity=64) == 2


def test_a_container_that_sees_only_its_own_older_cgroup_finds_its_quota(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/self/cgroup": "4:cpu:/host/path/not/seen/here",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        },
    )
    assert allotted_cores(tmp_path, affinity=64) == 3


def test_a_sliver_of_a_core_still_gives_one(tmp_path: Path) -> None:
    write(tmp_path, {"sys/fs/cgroup/cpu.max": "5000 100000", "proc/self/cgroup": "0::/"})
    assert allotted_cores(tmp_path, affinity=64) == 1


@pytest.mark.parametrize(("ranges", "count"), [("0", 1), ("0-3", 4), ("0-3,8", 5), ("1,3,5-6", 4)])
def test_processors_are_counted_from_the_kernel_s_ranges(ranges: str, count: int) -> None:
    assert count_processors(ranges) == count


@given(wanted=st.integers(1, 64), cores=st.integers(1, 64), sharing=st.integers(1, 64))
def test_devices_that_share_cores_never_ask_for_more_than_there_are(wanted: int, cores: int, sharing: int) -> None:
    threads = granted_threads(wanted, cores, sharing)
    assert 1 <= threads <= wanted
    assert threads * sharing <= max(cores, sharing)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity masks")
def test_a_process_held_to_one_core_loads_and_answers_with_one_thread(models: Path) -> None:
    script = f"""
import os; os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}})
import numpy as np
from pathlib import Path
from tidewise.core.cluster import DeviceType
from tidewise.worker.engine.choose import open_model, session_options
device_type = DeviceType("big", threads=8)
session = open_model(device_type, Path({str(models / "heavy.onnx")!r}))
answer = session.run({{"x": np.ones((4, 512), np.float32)}}, ["y"])["y"]
print(session_options(device_type).threads, answer.shape)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["1", "(4,", "512)"], done.stderr
