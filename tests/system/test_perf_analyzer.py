"""Triton's own perf_analyzer, unmodified, against a whole real cluster (docs/data-plane.md says how to get it).

Runs where PERF_ANALYZER names the program, or it is on the PATH, and it starts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from tidewise.cli.local import LocalCluster

PROGRAM = os.environ.get("PERF_ANALYZER") or shutil.which("perf_analyzer")


def starts(program: str | None) -> bool:
    try:
        return program is not None and subprocess.run([program, "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not starts(PROGRAM), reason="perf_analyzer is not installed, or does not start")


def analysed(cluster: LocalCluster, *more: str) -> str:
    """What perf_analyzer printed of a run with two callers; how steady the machine is does not matter here."""
    words = [
        "-m",
        "digits",
        "-u",
        cluster.router,
        "-i",
        "grpc",
        "--concurrency-range",
        "2",
        "-p",
        "1000",
        "-s",
        "999",
        *more,
    ]
    run = subprocess.run([str(PROGRAM), *words], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stdout + run.stderr
    print(run.stdout)
    return run.stdout


@pytest.mark.timeout(240)
@pytest.mark.parametrize("more", [(), ("--async", "--streaming")], ids=["unary", "stream"])
def test_perf_analyzer_measures_the_cluster(cluster: LocalCluster, more: tuple[str, ...]) -> None:
    said = analysed(cluster, *more)
    throughput = re.search(r"throughput: ([0-9.]+) infer/sec", said)
    assert throughput is not None and float(throughput[1]) > 0
    counted = re.search(r"Inference count: (\d+)", said)  # as our statistics have it
    assert counted is not None and int(counted[1]) > 0
