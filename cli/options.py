"""Options that several verbs share, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

import tidewise
from tidewise.core.cluster import Cluster, DeviceType, default_cluster
from tidewise.core.clusterfile import parse_cluster
from tidewise.core.errors import ConfigError, InputError, reason
from tidewise.router.plane import PLANES

STARTER_MODELS = Path(tidewise.__file__).resolve().parent / "models"
DEFAULT_STATE = Path(".tidewise")

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def cluster_option(function: _Decorated) -> _Decorated:
    """--cluster FILE."""
    return click.option(
        "--cluster",
        "cluster_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Cluster file (TOML); a small default cluster without it.",
    )(function)


def repository_option(function: _Decorated) -> _Decorated:
    """--repository DIR."""
    return click.option(
        "--repository",
        metavar="DIR",
        type=click.Path(path_type=Path),
        default=STARTER_MODELS,
        help="Model repository: a folder of applications; the starter ladders without it.",
    )(function)


def state_option(function: _Decorated) -> _Decorated:
    """--state DIR."""
    return click.option(
        "--state",
        metavar="DIR",
        type=click.Path(path_type=Path, file_okay=False),
        default=DEFAULT_STATE,
        show_default=True,
        help="Where logs, caches and process ids are kept.",
    )(function)


def data_plane_option(function: _Decorated) -> _Decorated:
    """--data-plane native|python."""
    return click.option(
        "--data-plane",
        type=click.Choice(PLANES),
        help="What forwards queries: the C++ process, or Python. Native without it where that is built.",
    )(function)


def json_option(function: _Decorated) -> _Decorated:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")(function)


def read_cluster(file: Path | None, faults: list[str] | None = None) -> Cluster:
    """The cluster of this file, or the default one. Raises ConfigError if it cannot be read.

    Given a list of ``faults``, what is wrong with its text is noted there instead.
    """
    if file is None:
        return default_cluster()
    try:
        cluster = parse_cluster(file.read_text(encoding="utf-8"), str(file), faults)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cluster file {file} cannot be read: {reason(error)}") from error
    return replace(cluster, device_types={key: _located(one, file) for key, one in cluster.device_types.items()})


def _located(device_type: DeviceType, file: Path) -> DeviceType:
    """The device type with its profile's path, which the file states relative to itself, made absolute."""
    if device_type.profile is None:
        return device_type
    return replace(device_type, profile=str((file.resolve().parent / device_type.profile).resolve()))


def parse_address(text: str, what: str) -> tuple[str, int]:
    """HOST:PORT as a pair; ``what`` names the option in the error text. Raises InputError."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise InputError(f"{what} must be HOST:PORT, not {text!r}")
    return host or "127.0.0.1", int(port)
