"""`tidewise profile`: measure what every variant costs on every device type, or compare two such measurements."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import click
from rich.console import Console

from tidewise.cli.options import DEFAULT_STATE, cluster_option, json_option, read_cluster, repository_option
from tidewise.cli.profile_text import (
    accuracy_table,
    difference_json,
    difference_table,
    profile_tables,
    progress,
)
from tidewise.core.errors import InputError, ProfileError, RepositoryError
from tidewise.core.files import ACCURACY_FILE
from tidewise.core.profile import format_profile
from tidewise.core.repository import format_accuracy
from tidewise.core.suffix import JSON, require_suffix
from tidewise.worker.profiling.accuracy import measure_accuracy
from tidewise.worker.profiling.difference import difference
from tidewise.worker.profiling.effort import FULL, QUICK
from tidewise.worker.profiling.host import host_name
from tidewise.worker.profiling.store import Step, profile_subjects, read_profile
from tidewise.worker.profiling.subject import Subject, read_subjects

_Noun = TypeVar("_Noun")


@click.command(name="profile", short_help="Measure every variant on every device type.")
@repository_option
@cluster_option
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=DEFAULT_STATE / "profile.json",
    show_default=True,
    help="Where the profile is kept; what it holds already is not measured again.",
)
@click.option("--application", "applications", metavar="NAME", multiple=True, help="Only this one; may be repeated.")
@click.option("--device-type", "types", metavar="NAME", multiple=True, help="Only this one; may be repeated.")
@click.option("--accuracy", is_flag=True, help="First measure accuracy on all test data and write accuracy.json.")
@click.option("--quick", is_flag=True, help="Fewer repetitions: seconds instead of minutes.")
@click.option("--diff", nargs=2, metavar="OLD NEW", type=click.Path(path_type=Path), help="Compare two profiles.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.2,
    show_default=True,
    help="With --diff: how much slower, as a fraction, is no regression.",
)
@json_option
def command(
    repository: Path,
    cluster_file: Path | None,
    out: Path,
    applications: tuple[str, ...],
    types: tuple[str, ...],
    accuracy: bool,
    quick: bool,
    diff: tuple[Path, Path] | None,
    tolerance: float,
    as_json: bool,
) -> None:
    """Measure latency, memory and load time of every variant on every device type, through the path that serves.

    Every variant is first compared with a separate onnxruntime session. With --diff, compare two profiles instead and
    exit 1 if a batch became slower by more than --tolerance, 2 if they have nothing in common.
    """
    if diff is not None:
        sys.exit(_compare(*diff, tolerance, as_json))
    require_suffix(out, JSON, "--out", ProfileError)
    cluster = read_cluster(cluster_file)
    device_types = _named("device type", cluster.device_types, types)
    _refuse_foreign(out)
    if accuracy:
        _measure_accuracy(_subjects(repository, applications), as_json)
    subjects = _subjects(repository, applications)
    with progress() as report:
        profile = profile_subjects(subjects, device_types, out, QUICK if quick else FULL, report)
    if as_json:
        click.echo(format_profile(profile), nl=False)
        return
    for table in profile_tables(subjects, device_types, profile):
        Console().print(table)
    click.echo(f"profile of {profile.host}: {out}")


def _subjects(repository: Path, names: Sequence[str]) -> list[Subject]:
    found = {one.application.name: one for one in read_subjects(repository)}
    return _named("application", found, names)


def _named(kind: str, known: Mapping[str, _Noun], names: Sequence[str]) -> list[_Noun]:
    for name in names:
        if name not in known:
            raise InputError(f"there is no {kind} {name!r}; known: {', '.join(sorted(known))}")
    return [one for name, one in known.items() if not names or name in names]


def _refuse_foreign(out: Path) -> None:
    """Figures of two machines must not be mixed in one file, nor those of another overwritten unasked."""
    if not out.exists():
        return
    found = read_profile(out)
    if found.entries and found.host != host_name():
        raise ProfileError(f"{out} was measured on {found.host or 'an unnamed machine'}; name another file with --out")


def _measure_accuracy(subjects: Sequence[Subject], as_json: bool) -> None:
    for subject in subjects:
        measured = {}
        with progress() as report:
            variants = len(subject.application.variants)
            for name, found in measure_accuracy(subject):
                measured[name] = found
                report(Step(len(measured), variants, f"accuracy of {subject.application.name}"))
        file = subject.folder / ACCURACY_FILE
        try:
            file.write_text(format_accuracy(measured), encoding="utf-8")
        except OSError as error:
            raise RepositoryError(f"{file} cannot be written: {error}") from error
        if not as_json:
            Console().print(accuracy_table(subject, measured))


def _compare(old_file: Path, new_file: Path, tolerance: float, as_json: bool) -> int:
    old, new = read_profile(old_file), read_profile(new_file)
    if old.host != new.host:
        click.echo(f"tidewise: measured on different machines: {old.host!r} and {new.host!r}", err=True)
    found = difference(old, new)
    if not found.changes:
        raise InputError(f"{old_file} and {new_file} measured nothing in common, so nothing can be compared")
    if as_json:
        click.echo(difference_json(found, tolerance))
    else:
        Console().print(difference_table(found, tolerance))
        click.echo(f"{len(found.regressions(tolerance))} of {len(found.changes)} slower by more than {tolerance:.0%}")
    return 1 if found.regressions(tolerance) else 0
