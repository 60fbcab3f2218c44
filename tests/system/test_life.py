"""Processes: what dies is replaced, what is stopped stays stopped, and nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tidewise.cli.local import LocalCluster, wait_until_ready
from tidewise.cli.options import STARTER_MODELS
from tidewise.cli.state_folder import STATE_FILE

CLUSTER = """
[ports]
http = 0
grpc = 0
metrics = 0
controller = 0

[device_types.cpu]
count = 1
batch_sizes = [1, 2]
"""


def tidewise(folder: Path, *words: str) -> subprocess.Popen[str]:
    """The command line, started in this folder."""
    command = [sys.executable, "-m", "tidewise.cli.main", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def started(tmp_path: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """`tidewise up` once it says it is ready, and the process ids of its children."""
    (tmp_path / "cluster.toml").write_text(CLUSTER)
    up = tidewise(tmp_path, "up", "--cluster", "cluster.toml", "--repository", str(STARTER_MODELS))
    assert up.stdout is not None
    for line in up.stdout:
        if line.startswith("ready: "):
            break
    state = json.loads((tmp_path / ".tidewise" / STATE_FILE).read_text())
    return up, list(state["children"].values())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_up_ends_no_process_is_left_behind(
    started: tuple[subprocess.Popen[str], list[int]], how: signal.Signals
) -> None:
    up, children = started
    assert len(children) == 3
    up.send_signal(how)
    up.wait(30)
    assert until(lambda: all(gone(pid) for pid in children))
    assert up.returncode == (0 if how is not signal.SIGKILL else -signal.SIGKILL)


def test_what_a_killed_up_leaves_is_recognised_and_put_away(
    started: tuple[subprocess.Popen[str], list[int]], tmp_path: Path
) -> None:
    up, children = started
    second = tidewise(tmp_path, "up", "--cluster", "cluster.toml")
    words, _ = second.communicate(timeout=40)
    assert second.returncode == 2 and f"process {up.pid}" in words and ".tidewise" in words
    up.kill()
    up.wait(10)
    down = tidewise(tmp_path, "down")
    words, _ = down.communicate(timeout=40)
    assert down.returncode == 0 and f"process {up.pid}) was killed" in words
    assert all(gone(pid) for pid in children)


def test_down_stops_what_up_started_and_says_so_when_nothing_is_up(
    started: tuple[subprocess.Popen[str], list[int]], tmp_path: Path
) -> None:
    up, children = started
    down = tidewise(tmp_path, "down")
    assert down.wait(40) == 0
    up.wait(10)
    assert all(gone(pid) for pid in children)
    for log in (tmp_path / ".tidewise" / "logs").glob("*.log"):
        told = [json.loads(line) for line in log.read_text().splitlines()]
        assert told and not [line for line in told if line["level"] not in ("info", "debug")], log
    again = tidewise(tmp_path, "down")
    words, _ = again.communicate(timeout=20)
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
