"""`tidewise controller`: plans, places, and tells workers and routers."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from pathlib import Path

import click

from tidewise.cli.lifeline import follow_parent
from tidewise.cli.logs import start_logging
from tidewise.cli.options import cluster_option, parse_address, read_cluster, repository_option
from tidewise.controller.policies import allocation_policy
from tidewise.controller.server import serve
from tidewise.controller.shell import Settings
from tidewise.core.cluster import Cluster
from tidewise.core.errors import InputError


@click.command(name="controller", short_help="Run a controller.")
@click.option("--listen", metavar="HOST:PORT", help="gRPC address; 127.0.0.1 and the cluster file's port without it.")
@click.option("--metrics", metavar="HOST:PORT", help="Serve Prometheus metrics here; none without it.")
@cluster_option
@repository_option
@click.option(
    "--state",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path(".tidewise/controller"),
    show_default=True,
    help="Where applied applications and the plan in force are kept.",
)
@click.option("--policy", metavar="NAME", help="Allocation policy, instead of the cluster file's.")
@click.option("--expect", metavar="APPLICATION=QPS", multiple=True, help="Demand to plan for until any is seen.")
@click.option("--verbose", is_flag=True, help="Log more.")
def command(
    listen: str | None,
    metrics: str | None,
    cluster_file: Path | None,
    repository: Path,
    state: Path,
    policy: str | None,
    expect: tuple[str, ...],
    verbose: bool,
) -> None:
    """Plan for the workers that attach, and tell routers where to send queries."""
    cluster = _with_policy(read_cluster(cluster_file), policy)
    host, port = parse_address(listen, "--listen") if listen else ("127.0.0.1", cluster.ports.controller)
    settings = Settings(
        host=host,
        port=port,
        cluster=cluster,
        repository=repository,
        state=state,
        expected=dict(map(_expected, expect)),
        metrics=parse_address(metrics, "--metrics") if metrics else None,
    )
    follow_parent()
    start_logging("controller", verbose=verbose)
    asyncio.run(_until_told(settings))


async def _until_told(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; then end well."""
    task = asyncio.ensure_future(serve(settings))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return


def _with_policy(cluster: Cluster, policy: str | None) -> Cluster:
    policies = replace(cluster.policies, allocation=policy or cluster.policies.allocation)
    allocation_policy(policies.allocation)
    return replace(cluster, policies=policies)


def _expected(text: str) -> tuple[str, float]:
    name, equals, rate = text.partition("=")
    try:
        value = float(rate)
    except ValueError:
        value = -1.0
    if not equals or not name or not 0 <= value < float("inf"):
        raise InputError(f"--expect must be APPLICATION=QPS, such as garments=40, not {text!r}")
    return name, value
