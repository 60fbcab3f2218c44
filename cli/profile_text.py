"""What `tidewise profile` shows a person: progress, tables; and the comparison as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tidewise.core.application import Application, Variant
from tidewise.core.capacity import capacity
from tidewise.core.cluster import DeviceType
from tidewise.core.profile import Profile, VariantProfile
from tidewise.core.repository import MeasuredAccuracy, wilson_interval
from tidewise.worker.profiling.difference import Change, Difference
from tidewise.worker.profiling.store import Report, Step
from tidewise.worker.profiling.subject import Subject

SHOWN_SIZES = (1, 8)
NAMES = ("variant", "accuracy", "device type")


@contextmanager
def progress() -> Iterator[Report]:
    """A bar on standard error, or one line where that is no terminal; feed it steps."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _say_first
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("measuring {task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        line = bar.add_task("", total=None)

        def report(step: Step) -> None:
            bar.update(line, completed=step.done, total=step.total, description=step.label)

        yield report


def _say_first(step: Step) -> None:
    if step.done == 0 and step.total:
        click.echo(f"measuring {step.total} variants, the first time only", err=True)


def profile_tables(
    subjects: Sequence[Subject], device_types: Sequence[DeviceType], profile: Profile
) -> Iterator[Table]:
    """One table an application, one line for each variant and device type: medians, and capacity at the SLO."""
    for subject in subjects:
        application = subject.application
        figures = (*(f"p50 ms of {size}" for size in SHOWN_SIZES), "queries/s", "batch")
        table = _table(f"{application.name}: SLO {application.slo * 1e3:g} ms", NAMES, figures)
        for variant in application.variants:
            names = variant.name, "-" if variant.accuracy is None else f"{variant.accuracy:.2%}"
            for device_type in device_types:
                table.add_row(*names, device_type.name, *_figures(application, variant, device_type, profile))
                names = "", ""
        _note(table, application, profile)
        yield table


def _table(title: str, names: Sequence[str], figures: Sequence[str]) -> Table:
    """An empty table: names to the left, figures to the right of their columns."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, show_edge=False, collapse_padding=True)
    for heading in names:
        table.add_column(heading, no_wrap=True)
    for heading in figures:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _figures(
    application: Application, variant: Variant, device_type: DeviceType, profile: Profile
) -> tuple[str, str, str, str]:
    entry = profile.get(application.name, variant.name, device_type.name)
    if entry is None:
        return "-", "-", "-", "-"
    first, second = (_median(entry, size) for size in SHOWN_SIZES)
    found = capacity(entry, application.slo, device_type.memory, variant.batch_sizes)
    return first, second, f"{found.rate:.0f}", str(found.batch) if found.batch else "none fits"


def _median(entry: VariantProfile, size: int) -> str:
    return "-" if size > entry.max_batch else f"{entry.p50(size) * 1e3:.3g}"


def _note(table: Table, application: Application, profile: Profile) -> None:
    """Warnings below the table; the first note of an entry only says how it was measured."""
    entries = [one for one in profile.entries.values() if one.application == application.name]
    warnings = sorted({f"{one.variant}: {note}" for one in entries for note in one.notes[1:]})
    if warnings:
        table.caption, table.caption_justify = "\n".join(warnings), "left"


def accuracy_table(subject: Subject, measured: Mapping[str, MeasuredAccuracy]) -> Table:
    """Each variant's accuracy with its 95 % interval."""
    figures = ("accuracy", "95 % interval", "samples")
    table = _table(f"{subject.application.name}: accuracy on the test data", ("variant",), figures)
    for name, one in measured.items():
        low, high = wilson_interval(one.correct, one.total)
        table.add_row(name, f"{one.accuracy:.2%}", f"{low:.2%} to {high:.2%}", str(one.total))
    return table


def difference_table(found: Difference, tolerance: float) -> Table:
    """Every change, the slowest first; regressions are marked."""
    figures = ("batch", "old ms", "new ms", "change", "")
    table = _table("medians, old and new", ("application", "variant", "device type"), figures)
    for one in sorted(found.changes, key=lambda change: -change.ratio):
        milliseconds = f"{one.old * 1e3:.3g}", f"{one.new * 1e3:.3g}"
        verdict = "slower" if one.regressed(tolerance) else ""
        table.add_row(*one.key, str(one.size), *milliseconds, f"{one.ratio - 1:+.1%}", verdict)
    for name, group in (("only in old", found.removed), ("only in new", found.added)):
        for key, size in group:
            table.add_row(*key, str(size), "", "", "", name)
    return table


def difference_json(found: Difference, tolerance: float) -> str:
    """The comparison as one JSON object."""
    values = {
        "tolerance": tolerance,
        "regressions": [_change(one) for one in found.regressions(tolerance)],
        "changes": [_change(one) for one in found.changes],
        "removed": [_place(*one) for one in found.removed],
        "added": [_place(*one) for one in found.added],
    }
    return json.dumps(values, indent=1)


def _change(one: Change) -> dict[str, Any]:
    return {**_place(one.key, one.size), "old_ms": one.old * 1e3, "new_ms": one.new * 1e3, "ratio": one.ratio}


def _place(key: tuple[str, str, str], size: int) -> dict[str, Any]:
    return {"application": key[0], "variant": key[1], "device_type": key[2], "size": size}
