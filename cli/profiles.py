"""The profile a local cluster starts with: measured here the first time, kept in the state folder after that."""

from __future__ import annotations

from pathlib import Path

from tidewise.cli.profile_text import progress
from tidewise.core.cluster import Cluster
from tidewise.core.profile import Profile
from tidewise.worker.profiling.effort import QUICK
from tidewise.worker.profiling.store import load_or_measure

PROFILE_FILE = "profile.json"


def local_profile(cluster: Cluster, repository: Path, state: Path) -> tuple[Path, Profile]:
    """The profile's file and content, measured now (showing progress) as far as it is not kept already."""
    file = state / PROFILE_FILE
    with progress() as report:
        return file, load_or_measure(repository, cluster, file, QUICK, report)
