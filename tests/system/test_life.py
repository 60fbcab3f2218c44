"""Processes: what dies is replaced, what is stopped stays stopped, and nothing is left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tidewise.cli.local import LocalCluster, wait_until_ready
from tidewise.cli.profiles import PROFILE_FILE
from tidewise.cli.state_folder import STATE_FILE

CLUSTER = """
[ports]
http = 0
grpc = 0
metrics = 0
controller = 0

[device_types.cpu]
count = 1
batch_sizes = [1, 2, 4, 8]
"""


def tidewise(folder: Path, *words: str) -> subprocess.Popen[str]:
    """The command line, started in this folder."""
    command = [sys.executable, "-m", "tidewise.cli.main", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


Started = tuple[subprocess.Popen[str], list[int]]


@pytest.fixture
def started(tmp_path: Path, models: Path, profile: Path) -> Iterator[Started]:
    """`tidewise up` once it says it is ready, and the process ids of its children."""
    (tmp_path / "cluster.toml").write_text(CLUSTER)
    (tmp_path / ".tidewise").mkdir()
    shutil.copy(profile, tmp_path / ".tidewise" / PROFILE_FILE)  # which the first `up` in a folder would measure
    up = tidewise(tmp_path, "up", "--cluster", "cluster.toml", "--repository", str(models))
    assert up.stdout is not None
    said = []
    for line in up.stdout:
        said.append(line)
        if line.startswith("ready: "):
            break
    else:
        raise AssertionError("".join(said))
    children = list(json.loads((tmp_path / ".tidewise" / STATE_FILE).read_text())["children"].values())
    assert len(children) == 3
    yield up, children
    up.kill()
    up.wait()


def test_ctrl_c_ends_up_and_all_its_children(started: Started) -> None:
    up, children = started
    up.send_signal(signal.SIGINT)
    assert up.wait(60) == 0
    assert until(lambda: all(gone(pid) for pid in children))


def test_a_killed_up_takes_its_children_along_and_is_recognised_and_put_away(started: Started, tmp_path: Path) -> None:
    up, children = started
    second = tidewise(tmp_path, "up", "--cluster", "cluster.toml")
    words, _ = second.communicate(timeout=60)
    assert second.returncode == 2 and f"process {up.pid}" in words and ".tidewise" in words
    up.kill()
    up.wait(60)
    assert until(lambda: all(gone(pid) for pid in children))
    down = tidewise(tmp_path, "down")
    words, _ = down.communicate(timeout=60)
    assert down.returncode == 0 and f"process {up.pid}) was killed" in words


def test_down_stops_what_up_started_and_says_so_when_nothing_is_up(started: Started, tmp_path: Path) -> None:
    up, children = started
    down = tidewise(tmp_path, "down")
    assert down.wait(60) == 0
    assert up.wait(60) == 0
    assert all(gone(pid) for pid in children)
    for log in (tmp_path / ".tidewise" / "logs").glob("*.log"):
        told = [json.loads(line) for line in log.read_text().splitlines()]
        assert told and not [line for line in told if line["level"] not in ("info", "debug")], log
    again = tidewise(tmp_path, "down")
    words, _ = again.communicate(timeout=60)
    assert again.returncode == 2
    assert "no cluster is up" in words


def test_a_killed_worker_is_started_again_and_serves(own_cluster: LocalCluster) -> None:
    pid = own_cluster.children.pids()["worker-cpu-0"]
    os.kill(pid, signal.SIGKILL)

    def back() -> bool:
        own_cluster.children.tend()
        return own_cluster.children.pids().get("worker-cpu-0", pid) != pid

    assert until(back)
    status = wait_until_ready(own_cluster)
    assert {one.device.name for one in status.workers if one.connected} == {"cpu-0", "cpu-1", "cpu-2"}


def test_a_killed_controller_comes_back_and_learns_the_cluster_from_its_workers(own_cluster: LocalCluster) -> None:
    before = wait_until_ready(own_cluster).plan.version
    pid = own_cluster.children.pids()["controller"]
    os.kill(pid, signal.SIGKILL)

    def back() -> bool:
        own_cluster.children.tend()
        return own_cluster.children.pids().get("controller", pid) != pid

    assert until(back)
    status = wait_until_ready(own_cluster)
    assert len(status.workers) == 3
    assert status.plan.version >= before  # the same plan, if nothing changed
