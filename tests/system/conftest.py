"""A whole real cluster of plain CPU devices, once for all system tests that only ask it things."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tidewise.cli.local import LocalCluster, running, wait_until_ready
from tidewise.cli.options import STARTER_MODELS
from tidewise.core.cluster import CPU, Cluster, DeviceType, PlannerSettings, Ports
from tidewise.worker.profiling.effort import QUICK
from tidewise.worker.profiling.store import load_or_measure

SMALL = Cluster(
    device_types={"cpu": DeviceType("cpu", count=3, provider=CPU, batch_sizes=(1, 2, 4, 8))},
    ports=Ports(http=0, grpc=0, metrics=0, controller=0),
    planner=PlannerSettings(period=2.0),
)


def nobody(text: str) -> None:
    """Where a cluster's words go that no test reads."""


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter ladders with SLOs that a busy machine can keep."""
    folder = tmp_path_factory.mktemp("repository")
    for name in ("garments", "digits"):
        file = Path(shutil.copytree(STARTER_MODELS / name, folder / name)) / "application.toml"
        file.write_text(re.sub(r"(?m)^slo_ms.*$", "slo_ms = 5000.0", file.read_text()))
    return folder


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Path:
    """The starter ladders' profile on plain CPU devices of this machine."""
    file = tmp_path_factory.mktemp("profile") / "profile.json"
    load_or_measure(models, SMALL, file, QUICK)
    return file


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory, models: Path, profile: Path) -> Iterator[LocalCluster]:
    """Three workers, a router and a controller, up and ready."""
    state = tmp_path_factory.mktemp("state")
    with running(SMALL, models, state, profile, nobody) as local:
        wait_until_ready(local)
        yield local


@pytest.fixture
def own_cluster(tmp_path: Path, models: Path, profile: Path) -> Iterator[LocalCluster]:
    """The same, for one test that breaks things."""
    with running(replace(SMALL), models, tmp_path / "state", profile, nobody) as local:
        wait_until_ready(local)
        yield local
