"""`tidewise worker`: one or more devices of one type, in a process of their own."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path

import click

from tidewise.cli.lifeline import follow_parent
from tidewise.cli.logs import start_logging
from tidewise.cli.options import cluster_option, parse_address, read_cluster, state_option
from tidewise.core.cluster import Cluster, DeviceType
from tidewise.core.errors import InputError, ProfileError
from tidewise.core.profile import Profile, parse_profile


@click.command(name="worker", short_help="Run a worker process.")
@click.option("--join", required=True, metavar="HOST:PORT", help="The controller.")
@click.option(
    "--listen", default="127.0.0.1:0", show_default=True, metavar="HOST:PORT", help="Port 0 picks a free one."
)
@click.option("--advertise", metavar="HOST:PORT", help="Where routers reach this process, if not where it listens.")
@click.option("--device-type", "type_name", metavar="NAME", help="A device type of the cluster file.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="A device's name; once for each device.")
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Devices, named after their type and a number.")
@click.option("--metrics", metavar="HOST:PORT", help="Serve Prometheus metrics here; none without it.")
@cluster_option
@click.option("--repository", metavar="DIR", type=click.Path(path_type=Path), help="Model files that need no fetching.")
@click.option("--profile", "profile_file", metavar="FILE", type=click.Path(path_type=Path), help="Measured profiles.")
@state_option
def command(
    join: str,
    listen: str,
    advertise: str | None,
    type_name: str | None,
    names: tuple[str, ...],
    count: int | None,
    metrics: str | None,
    cluster_file: Path | None,
    repository: Path | None,
    profile_file: Path | None,
    state: Path,
) -> None:
    """Host variants on devices of this machine as the controller plans, and answer queries."""
    from tidewise.worker.server import serve
    from tidewise.worker.settings import WorkerSettings

    follow_parent()
    for text, option in ((join, "--join"), (listen, "--listen"), (advertise, "--advertise")):
        if text is not None:
            parse_address(text, option)
    if repository is not None and not repository.is_dir():
        raise InputError(f"--repository {repository} is not a folder; leave it out to fetch models from the controller")
    cluster = read_cluster(cluster_file)
    device_type = choose_type(cluster, type_name)
    settings = WorkerSettings(
        join=join,
        listen=listen,
        advertise=advertise,
        devices=dict.fromkeys(device_names(device_type, names, count), device_type),
        policies=cluster.policies,
        limits=cluster.limits,
        repository=repository,
        profile=read_profiles(profile_file, device_type),
        state=state,
        metrics=parse_address(metrics, "--metrics") if metrics else None,
    )
    settings.policy  # noqa: B018 - an unknown policy is told before anything starts
    start_logging("worker")
    asyncio.run(serve(settings))


def choose_type(cluster: Cluster, name: str | None) -> DeviceType:
    """The device type of this name, or the only one. Raises InputError."""
    known = ", ".join(sorted(cluster.device_types)) or "none"
    if name is None and len(cluster.device_types) == 1:
        return next(iter(cluster.device_types.values()))
    if name is None:
        raise InputError(f"say which device type this worker is with --device-type; the cluster has {known}")
    if name not in cluster.device_types:
        raise InputError(f"--device-type {name!r} is not in the cluster; it has {known}")
    return cluster.device_types[name]


def device_names(device_type: DeviceType, names: tuple[str, ...], count: int | None) -> list[str]:
    """The names given, or as many as counted, or one that tells this host from others. Raises InputError."""
    if names and count is not None:
        raise InputError("--name and --count exclude each other; give every --name, or only --count")
    if len(set(names)) < len(names):
        raise InputError(f"--name {next(one for one in names if names.count(one) > 1)!r} is given twice")
    chosen = list(names) or [f"{device_type.name}-{index}" for index in range(count or 0)]
    chosen = chosen or [f"{device_type.name}-{socket.gethostname()}"]
    if any(not name.isascii() or not name.isprintable() or not name for name in chosen):
        raise InputError("--name must be printable ASCII text, for it travels in metadata")
    return chosen


def read_profiles(file: Path | None, device_type: DeviceType) -> Profile:
    """The device type's own profile, overlaid with the file given. Raises ProfileError."""
    profile = Profile()
    for path in (device_type.profile, file):
        if path is not None:
            found = _read_profile(Path(path))
            profile = replace(found, entries={**profile.entries, **found.entries})
    return profile


def _read_profile(path: Path) -> Profile:
    try:
        return parse_profile(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"profile {path} cannot be read: {error}") from error
