"""`tidewise router`: takes queries and forwards them to workers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from tidewise.cli.lifeline import follow_parent
from tidewise.cli.logs import start_logging
from tidewise.cli.options import cluster_option, data_plane_option, parse_address, read_cluster
from tidewise.native.data_plane import chosen_plane
from tidewise.router.server import Settings, serve


@click.command(name="router", short_help="Run a router.")
@click.option("--join", required=True, metavar="HOST:PORT", help="The controller's address.")
@click.option("--listen", metavar="HOST:PORT", help="gRPC address; 127.0.0.1 and the cluster file's port without it.")
@click.option("--http", metavar="HOST:PORT", help="HTTP address; 127.0.0.1 and the cluster file's port without it.")
@click.option("--metrics", metavar="HOST:PORT", help="Serve Prometheus metrics here; none without it.")
@cluster_option
@click.option(
    "--drain-delay",
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    help="How long to serve on after SIGTERM while saying not ready.",
)
@data_plane_option
@click.option("--verbose", is_flag=True, help="Log more.")
def command(
    join: str,
    listen: str | None,
    http: str | None,
    metrics: str | None,
    cluster_file: Path | None,
    drain_delay: float,
    data_plane: str | None,
    verbose: bool,
) -> None:
    """Route queries to the workers that the controller at --join plans."""
    cluster = read_cluster(cluster_file)
    listen = listen or f"127.0.0.1:{cluster.ports.grpc}"
    http = http or f"127.0.0.1:{cluster.ports.http}"
    for option, value in (("--join", join), ("--listen", listen), ("--http", http)):
        parse_address(value, option)
    exported = parse_address(metrics, "--metrics") if metrics else None
    follow_parent()
    start_logging("router", verbose=verbose)
    limit, plane = cluster.limits.max_message, chosen_plane(data_plane)
    asyncio.run(serve(Settings(join, listen, http, limit, drain_delay, metrics=exported, data_plane=plane)))
