"""`tidewise down`: stop the cluster that `tidewise up` started."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import click
import psutil

from tidewise.cli.local import STATE_FILE
from tidewise.cli.options import state_option
from tidewise.core.errors import InputError, TidewiseError

STOP_SECONDS = 20.0


@click.command(name="down", short_help="Stop the cluster that `up` started.")
@state_option
def command(state: Path) -> None:
    """Stop the cluster whose state folder this is: drained queries are finished first."""
    pid = running_pid(state)
    if pid is None:
        raise InputError(f"no cluster is up with state folder {state}")
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while running_pid(state) is not None:
        if time.monotonic() > deadline:
            raise TidewiseError(f"process {pid} did not stop within {STOP_SECONDS:g} s; its logs are in {state}/logs")
        time.sleep(0.1)
    click.echo("stopped")


def running_pid(state: Path) -> int | None:
    """The process that holds this state folder, if it is alive and is ours."""
    try:
        pid = int(json.loads((state / STATE_FILE).read_text(encoding="utf-8"))["pid"])
        words = psutil.Process(pid).cmdline()
    except (OSError, ValueError, KeyError, psutil.Error):
        return None
    return pid if any("tidewise" in word for word in words) else None
