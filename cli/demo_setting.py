"""What the demo serves and on what, unless it is told: ladders whose rungs differ enough to see accuracy give way."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tidewise.cli.options import STARTER_MODELS, read_cluster
from tidewise.core.cluster import Cluster
from tidewise.core.files import APPLICATION_FILE, application_folders
from tidewise.core.repository import parse_application

SLOWER = 2.0  # times the default cluster's slowdown: the rungs kept are cheap, and the machine is to stay half idle
RUNGS: Mapping[str, tuple[str, ...]] = {"garments": ("l", "s", "xs", "nano")}
NOTE = (
    "garments is served without its rungs xl and INT8, which give up so little accuracy for so much speed that there"
    " would be nothing to see; --whole-ladders keeps them"
)


@dataclass(frozen=True, slots=True)
class Setting:
    """A cluster, a model repository (``whole``, or only some rungs of it), and remarks a viewer must know."""

    cluster: Cluster
    repository: Path
    whole: bool = True
    notes: tuple[str, ...] = ()

    def served(self, state: Path) -> Path:
        """The repository to serve; one that has to be made lies below ``state``."""
        return self.repository if self.whole else restricted(self.repository, state / "ladders", RUNGS)


def setting(cluster_file: Path | None, repository: Path | None, whole: bool) -> Setting:
    """The demo's own setting where the caller states none."""
    cluster = read_cluster(cluster_file)
    if repository is not None or whole:
        return Setting(cluster, repository or STARTER_MODELS)
    return Setting(cluster if cluster_file else slower(cluster, SLOWER), STARTER_MODELS, whole=False, notes=(NOTE,))


def slower(cluster: Cluster, factor: float) -> Cluster:
    """The cluster with devices so many times as slow."""
    types = cluster.device_types.items()
    return replace(cluster, device_types={name: replace(one, slowdown=one.slowdown * factor) for name, one in types})


def restricted(repository: Path, target: Path, rungs: Mapping[str, Collection[str]]) -> Path:
    """A copy of a repository, made anew, with only some variants of the applications named."""
    shutil.rmtree(target, ignore_errors=True)
    for folder in application_folders(repository):
        copy = target / folder.name
        shutil.copytree(folder, copy)
        file = copy / APPLICATION_FILE
        text = file.read_text(encoding="utf-8")
        kept = rungs.get(parse_application(text, str(file)).name)
        if kept is not None:
            file.write_text(_only(text, kept), encoding="utf-8")
    return target


def _only(text: str, names: Collection[str]) -> str:
    """An application's file with only these of its variants."""
    head, *tables = re.split(r"(?m)^(?=\[\[variants\]\])", text)
    return "".join([head, *(one for one in tables if _name(one) in names)])


def _name(table: str) -> str:
    found = re.search(r'(?m)^name = "([^"]+)"', table)
    return found[1] if found else ""
