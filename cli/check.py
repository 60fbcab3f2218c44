"""`tidewise check`: is this cluster file, application, repository or profile right, and if not, what to mend."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tidewise.cli.checking import application_faults, cluster_file_faults, profile_faults
from tidewise.cli.options import cluster_option, json_option, read_cluster
from tidewise.core.cluster import Cluster
from tidewise.core.errors import InputError, reason
from tidewise.core.files import APPLICATION_FILE, application_folders
from tidewise.core.profile import Profile, parse_profile


@click.command(name="check", short_help="Check a cluster file, application or profile.")
@click.argument("path", type=click.Path(path_type=Path))
@cluster_option
@click.option("--profile", "profile_file", metavar="FILE", type=click.Path(path_type=Path), help="Judge SLOs by this.")
@json_option
def command(path: Path, cluster_file: Path | None, profile_file: Path | None, as_json: bool) -> None:
    """Check PATH: a cluster file (.toml), an application's folder, a model repository, or a profile (.json).

    Prints one sentence for each fault and exits 2 if there are any. Without --profile, each SLO is held against
    the latency of a batch of one measured here and now.
    """
    profile = parse_profile(_read(profile_file), str(profile_file)) if profile_file else None
    faults = list(faults_of(path, read_cluster(cluster_file), profile))
    if as_json:
        click.echo(json.dumps({"ok": not faults, "faults": faults}, indent=1))
    else:
        for fault in faults:
            click.echo(fault, err=True)
        click.echo(f"{path}: " + (f"{len(faults)} fault{'s' * (len(faults) > 1)}" if faults else "ok"))
    sys.exit(2 if faults else 0)


def faults_of(path: Path, cluster: Cluster, profile: Profile | None) -> Iterator[str]:
    """Every fault of what lies at the path, as one sentence each."""
    if not path.exists():
        yield f"{path} does not exist"
        return
    try:
        if path.name == APPLICATION_FILE:
            yield from application_faults(path.parent, cluster, profile)
        elif path.suffix == ".toml":
            yield from cluster_file_faults(path)
        elif path.suffix == ".json":
            yield from profile_faults(_read(path), path)
        elif path.is_file():
            yield f"{path} must be a cluster file (.toml), a profile (.json), or a folder"
        elif (path / APPLICATION_FILE).exists():
            yield from application_faults(path, cluster, profile)
        else:
            for folder in application_folders(path):
                yield from application_faults(folder, cluster, profile)
    except InputError as error:
        yield str(error)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {reason(error)}") from error
