"""`tidewise up`: a whole cluster on this machine, supervised until Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click

from tidewise.cli.lifeline import PARENT
from tidewise.cli.local import ROUTER, LocalCluster, running, wait_until_ready
from tidewise.cli.options import cluster_option, data_plane_option, read_cluster, repository_option, state_option
from tidewise.cli.policies import under
from tidewise.cli.profiles import local_profile
from tidewise.cli.state_folder import STATE_FILE, refuse_held
from tidewise.core.errors import TidewiseError
from tidewise.native.data_plane import chosen_plane

TEND_SECONDS = 0.2


@click.command(name="up", short_help="Run a whole cluster on this machine.")
@cluster_option
@repository_option
@state_option
@click.option("--policy", metavar="NAME", help="Allocation policy, instead of the cluster file's.")
@data_plane_option
@click.option("--detach", is_flag=True, help="Return once the cluster is ready; `tidewise down` stops it.")
def command(
    cluster_file: Path | None, repository: Path, state: Path, policy: str | None, data_plane: str | None, detach: bool
) -> None:
    """Start controller, router and workers here, restart what dies, stop all of it on Ctrl-C."""
    cluster = under(read_cluster(cluster_file), policy)
    data_plane = chosen_plane(data_plane)
    refuse_held(state)
    if detach:
        _start_detached(state)
        return
    signal.signal(signal.SIGTERM, _interrupt)
    profile, _ = local_profile(cluster, repository, state)
    with running(cluster, repository, state, profile, _say, data_plane=data_plane) as local:
        try:
            _serve(local)
        except KeyboardInterrupt:
            _say("stopping")


def _serve(local: LocalCluster) -> None:
    status = wait_until_ready(local)
    _say(
        f"ready: plan {status.plan.version}, {len(status.workers)} workers; call {local.router} (gRPC);"
        f" metrics: {local.metrics[ROUTER]}, those of the other processes: {local.state / STATE_FILE}"
    )
    _say(f"logs: {local.state / 'logs'}; what it does: tidewise status --watch; Ctrl-C stops it")
    while True:
        local.children.tend()
        time.sleep(TEND_SECONDS)


def _start_detached(state: Path) -> None:
    """Run the same command without --detach in a session of its own, and wait until it says it is ready."""
    words = [word for word in sys.argv[1:] if word != "--detach"]
    state.mkdir(parents=True, exist_ok=True)
    log = state / "up.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "tidewise.cli.main", *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            env={key: value for key, value in os.environ.items() if key != PARENT},
        )
    while process.poll() is None:
        for line in log.read_text(errors="replace").splitlines():
            if line.startswith("ready: "):
                click.echo(line)
                click.echo(f"stop it: tidewise down --state {state}")
                return
        time.sleep(TEND_SECONDS)
    raise TidewiseError(f"the cluster did not come up:\n{log.read_text(errors='replace')[-2000:]}")


def _interrupt(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    click.echo(text)
    sys.stdout.flush()
