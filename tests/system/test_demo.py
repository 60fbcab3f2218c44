"""The demonstration, short: every arrival ends once, the files are there, nothing is left running."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tidewise.cli.profiles import PROFILE_FILE

CLUSTER = """
[device_types.cpu]
count = 2
provider = "slowdown"
slowdown = 8
batch_sizes = [1, 2, 4]

[planner]
period_s = 2
"""
KEYS = {
    "arrivals",
    "outcomes",
    "violation_ratio",
    "effective_accuracy",
    "accuracy_drop",
    "on_time_accuracy_per_arrival",
    "per_application",
    "plan_versions",
    "queries_per_variant",
}


def demo(folder: Path, *more: str) -> subprocess.Popen[str]:
    (folder / "cluster.toml").write_text(CLUSTER)
    words = ("demo", "--cluster", "cluster.toml", "--peak-qps", "20", "--json", "card.json", *more)
    command = [sys.executable, "-m", "tidewise.cli.main", *words]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ours(folder: Path) -> list[psutil.Process]:
    """Processes that work for a cluster whose state lies in this folder."""
    found = []
    for one in psutil.process_iter():
        try:
            if any(str(folder) in word for word in one.cmdline()):
                found.append(one)
        except psutil.Error:
            continue
    return found


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a demo that has ended."""
    folder = tmp_path_factory.mktemp("played")
    words, _ = (run := demo(folder, "--seconds", "5")).communicate(timeout=110)
    assert run.returncode == 0, words
    return folder


def test_every_arrival_of_a_demo_ends_in_exactly_one_outcome(played: Path) -> None:
    card = json.loads((played / "card.json").read_text())["scorecard"]
    assert set(card) >= KEYS
    assert card["arrivals"] == sum(card["outcomes"].values()) > 0
    assert sum(card["queries_per_variant"].values()) >= card["outcomes"]["on_time"]
    assert all(0 <= card[key] <= 1 for key in ("violation_ratio", "on_time_accuracy_per_arrival"))
    assert set(card["per_application"]) == {"garments", "digits"}
    assert (played / "runs" / "demo" / "report.html").stat().st_size > 10_000
    assert not ours(played)


@pytest.mark.parametrize("after", ["peak ", "0 of "])
def test_ctrl_c_leaves_no_process_behind(played: Path, tmp_path: Path, after: str) -> None:
    state = Path(".tidewise", "demo")
    (tmp_path / state).mkdir(parents=True)
    shutil.copy(played / state / PROFILE_FILE, tmp_path / state)  # else it would be measured again
    run = demo(tmp_path, "--seconds", "60")
    assert run.stdout is not None
    for line in run.stdout:
        if line.startswith(after):
            break
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode in (1, 130)  # before the replay and in it
    deadline = time.monotonic() + 30
    while ours(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not ours(tmp_path)
