"""`tidewise down`: stop the cluster that `tidewise up` started."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import click

from tidewise.cli.options import state_option
from tidewise.cli.state_folder import holder, put_away
from tidewise.core.errors import InputError, TidewiseError

STOP_SECONDS = 20.0


@click.command(name="down", short_help="Stop the cluster that `up` started.")
@state_option
def command(state: Path) -> None:
    """Stop the cluster whose state folder this is: drained queries are finished first."""
    pid = holder(state)
    if pid is None:
        if not put_away(state, click.echo):
            raise InputError(f"no cluster is up with state folder {state}; --state names another")
        click.echo("nothing of it runs any more")
        return
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while holder(state) == pid:
        if time.monotonic() > deadline:
            raise TidewiseError(f"process {pid} did not stop within {STOP_SECONDS:g} s; its logs are in {state}/logs")
        time.sleep(0.1)
    click.echo("stopped")
