"""Metrics are served where asked for and nowhere else."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from observed import tidewise

from tidewise.cli.ports import free_port


def test_without_the_option_nothing_listens_for_scrapes(tmp_path: Path) -> None:
    words = ("--join", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
    with tidewise(tmp_path / "router.log", "router", *words) as process:
        up = process.line(event="router is listening")
        connections = psutil.Process(process.popen.pid).net_connections(kind="tcp")
        ports = {one.laddr.port for one in connections if one.status == psutil.CONN_LISTEN}
        assert up["metrics_port"] is None
        assert ports == {int(up["address"].rpartition(":")[2]), up["http_port"]}


@pytest.mark.parametrize("process", ["router", "worker"])
def test_a_metrics_port_that_is_taken_is_wrong_input(process: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port()))
        taken.listen()
        words = ["--join", "127.0.0.1:1", "--listen", "127.0.0.1:0"]
        words += ["--http", "127.0.0.1:0"] if process == "router" else ["--name", "w0", "--device-type", "big"]
        words += ["--metrics", f"127.0.0.1:{taken.getsockname()[1]}"]
        ended = subprocess.run(
            [sys.executable, "-m", "tidewise.cli.main", process, *words], capture_output=True, text=True, timeout=60
        )
    assert ended.returncode == 2
    assert "metrics cannot be served on 127.0.0.1:" in ended.stderr
