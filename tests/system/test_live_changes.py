"""Plans change, applications come and go, the controller dies: a stranger's client sees none of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tidewise.cli.local import LocalCluster, wait_until_ready
from tidewise.cli.main import cli

STRANGER = Path(__file__).with_name("stranger.py")
CHANGES = 10


@contextmanager
def asking(cluster: LocalCluster, application: str, folder: Path) -> Iterator[dict[str, Any]]:
    """A stranger asks throughout the block; filled with what became of it at the end."""
    words = [sys.executable, str(STRANGER), cluster.router, application, str(folder)]
    seen: dict[str, Any] = {}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as stranger:
        assert stranger.stdout is not None and stranger.stdout.readline() == "asking\n"
        try:
            yield seen
        finally:
            stranger.send_signal(signal.SIGTERM)
            words_at_the_end = stranger.stdout.read()
    seen.update(json.loads(words_at_the_end))


def tidewise(cluster: LocalCluster, *words: str) -> None:
    result = CliRunner().invoke(cli, [*words, "--controller", cluster.controller])
    assert result.exit_code == 0, result.output


def copied(folder: Path, to: Path, name: str) -> Path:
    """The application under another name."""
    file = Path(shutil.copytree(folder, to)) / "application.toml"
    file.write_text(re.sub(r"(?m)^name = .*$", f'name = "{name}"', file.read_text(), count=1))
    return to


def without(folder: Path, to: Path, variants: set[str]) -> Path:
    """The application less some of its variants."""
    file = Path(shutil.copytree(folder, to)) / "application.toml"
    head, *tables = file.read_text().split("[[variants]]")
    left = [one for one in tables if not any(f'name = "{name}"' in one for name in variants)]
    file.write_text("[[variants]]".join([head, *left]))
    return to


def ceilings(cluster: LocalCluster) -> set[str]:
    """What garments is answered with at best, once the plan in force is followed."""
    return {one.ceiling for one in wait_until_ready(cluster).plan.assignments if one.application == "garments"}


def kill_the_controller(cluster: LocalCluster) -> None:
    pid = cluster.children.pids()["controller"]
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while cluster.children.pids().get("controller", pid) == pid:
        assert time.monotonic() < deadline
        cluster.children.tend()
        time.sleep(0.02)
    wait_until_ready(cluster)


@pytest.mark.timeout(240)
def test_a_strangers_loop_sees_no_failed_and_no_wrong_answer(
    own_cluster: LocalCluster, models: Path, tmp_path: Path
) -> None:
    garments = models / "garments"
    first = wait_until_ready(own_cluster).plan.version
    with asking(own_cluster, "garments", garments) as seen:
        last, rounds = first, 0
        while last - first < CHANGES:
            hosted = ceilings(own_cluster)
            tidewise(own_cluster, "apply", str(without(garments, tmp_path / f"less-{rounds}", hosted)))
            while ceilings(own_cluster) & hosted:
                time.sleep(0.02)
            tidewise(own_cluster, "apply", str(garments))
            letters = copied(models / "digits", tmp_path / f"letters-{rounds}", "letters")
            tidewise(own_cluster, "apply", str(letters))
            tidewise(own_cluster, "remove", "letters")
            if rounds == 0:
                kill_the_controller(own_cluster)
            last, rounds = wait_until_ready(own_cluster).plan.version, rounds + 1
    assert seen["failed"] == {} and seen["wrong"] == 0, seen
    assert len(seen["variants"]) > 1 and sum(seen["variants"].values()) == seen["asked"], seen
