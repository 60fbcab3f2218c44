"""The demonstration, short: every arrival ends once, the files are there, nothing is left running."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

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


def test_every_arrival_of_a_demo_ends_in_exactly_one_outcome(tmp_path: Path) -> None:
    words, _ = (run := demo(tmp_path, "--seconds", "6")).communicate(timeout=110)
    assert run.returncode == 0, words
    card = json.loads((tmp_path / "card.json").read_text())["scorecard"]
    assert set(card) >= KEYS
    assert card["arrivals"] == sum(card["outcomes"].values()) > 0
    assert sum(card["queries_per_variant"].values()) >= card["outcomes"]["on_time"]
    assert all(0 <= card[key] <= 1 for key in ("violation_ratio", "on_time_accuracy_per_arrival"))
    assert set(card["per_application"]) == {"garments", "digits"}
    assert (tmp_path / "runs" / "demo" / "report.html").stat().st_size > 10_000
    assert not ours(tmp_path)


@pytest.mark.parametrize("after", ["peak ", "0 of "])
def test_ctrl_c_leaves_no_process_behind(tmp_path: Path, after: str) -> None:
    run = demo(tmp_path, "--seconds", "60")
    assert run.stdout is not None
    for line in run.stdout:
        if line.startswith(after):
            break
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    deadline = time.monotonic() + 10
    while ours(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not ours(tmp_path)
