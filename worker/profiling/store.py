"""Profiling a repository for a cluster, with results kept in a file as they come."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from tidewise.core.cluster import Cluster, DeviceType
from tidewise.core.errors import ProfileError, reason
from tidewise.core.profile import Profile, format_profile, parse_profile
from tidewise.worker.profiling.effort import QUICK, Effort
from tidewise.worker.profiling.host import host_name
from tidewise.worker.profiling.profiler import run_tasks
from tidewise.worker.profiling.subject import Subject, read_subjects
from tidewise.worker.profiling.tasks import emulated_entries, missing_tasks


@dataclass(frozen=True, slots=True)
class Step:
    """How far profiling is: ``done`` of ``total`` variants; ``label`` says what comes next, "" at the end."""

    done: int
    total: int
    label: str


Report = Callable[[Step], None]


def _silent(step: Step) -> None:
    """Progress nobody watches."""


def load_or_measure(
    repository: Path, cluster: Cluster, cache: Path, effort: Effort = QUICK, report: Report = _silent
) -> Profile:
    """The profile of every application of a repository on every device type of a cluster.

    What ``cache`` holds for this machine, these model files and these settings is taken from it; the rest is measured
    and added to it, one variant at a time, so that an interrupted run goes on where it stopped. Raises EngineError
    naming a variant that cannot be trusted, RepositoryError or ProfileError for wrong files.
    """
    return profile_subjects(read_subjects(repository), tuple(cluster.device_types.values()), cache, effort, report)


def profile_subjects(
    subjects: Sequence[Subject],
    device_types: Sequence[DeviceType],
    out: Path,
    effort: Effort = QUICK,
    report: Report = _silent,
) -> Profile:
    """As ``load_or_measure``, for some applications and device types; other entries of the file stay as they are."""
    known = _known(out)
    files = {one.profile: read_profile(Path(one.profile)) for one in device_types if one.profile is not None}
    profile = known.with_entries(emulated_entries(subjects, device_types, files))
    tasks = missing_tasks(subjects, device_types, known, effort)
    report(Step(0, len(tasks), tasks[0].label if tasks else ""))
    for done, (_, entries) in enumerate(run_tasks(tasks, effort), start=1):
        profile = profile.with_entries(entries)
        write_profile(out, profile)
        report(Step(done, len(tasks), tasks[done].label if done < len(tasks) else ""))
    if profile != known:
        write_profile(out, profile)
    return profile


def read_profile(path: Path) -> Profile:
    """The profile in a file. Raises ProfileError naming the file if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path} cannot be read as a profile: {reason(error)}") from error
    return parse_profile(text, str(path))


def write_profile(path: Path, profile: Profile) -> None:
    """Replace the file at once, so that a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.write_text(format_profile(profile), encoding="utf-8")
    partial.replace(path)


def _known(out: Path) -> Profile:
    """What the file holds if it was measured on this machine, else an empty profile of this machine."""
    host = host_name()
    known = read_profile(out) if out.exists() else Profile()
    if known.host != host:
        known = Profile(host=host)
    return replace(known, created=known.created or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
