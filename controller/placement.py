"""Placement: counts to devices with the fewest loads, and to assignments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from tidewise.controller.case_builder import Counts, parted
from tidewise.controller.kinds import Kind
from tidewise.controller.shares import shares
from tidewise.controller.warm import WarmSet
from tidewise.core.case import Case
from tidewise.core.plan import Assignment

Held = Mapping[str, Collection[str]]  # device: the variants it holds, or is already loading


def held_counts(kinds: Mapping[str, Kind], held: Held) -> dict[str, dict[str, int]]:
    """How many devices of each kind hold each variant."""
    rows = {name: Counter(v for device in kind.devices for v in held.get(device, ())) for name, kind in kinds.items()}
    return {name: dict(row) for name, row in rows.items() if row}


def place(counts: Mapping[str, int], devices: Collection[str], held: Held) -> dict[str, str]:
    """Which device hosts which variant: as many as possible one they hold, min(n, holders) of each at least if
    no device holds two. Among devices that must load, one that holds a variant of the same application comes first.
    """
    placed = _keepers(counts, sorted(devices), held)
    missing = Counter(counts) - Counter(placed.values())
    free = [one for one in sorted(devices) if one not in placed]
    sorted_for = ""
    for variant in sorted(missing):
        application, _ = parted(variant)
        if application != sorted_for:
            free.sort(key=lambda one: (_strangeness(held.get(one, ()), application), one))
            sorted_for = application
        placed.update(dict.fromkeys(free[: missing[variant]], variant))
        del free[: missing[variant]]
    return placed


def assignments(
    case: Case, kinds: Mapping[str, Kind], counts: Counts, demand: Mapping[str, float], held: Held, warm: WarmSet
) -> tuple[Assignment, ...]:
    """Every device's assignment, by device name; devices the counts leave out have none."""
    share = shares(case, counts, demand)
    found = []
    for name, kind in kinds.items():
        row = counts.get(name, {})
        for device, variant in place(row, kind.devices, held).items():
            application, ceiling = parted(variant)
            found.append(
                Assignment(
                    worker=device,
                    application=application,
                    warm=warm(application, ceiling, kind),
                    ceiling=ceiling,
                    share=share[name, variant] / row[variant],
                    capacity=case.capacity[name][variant],
                )
            )
    return tuple(sorted(found, key=lambda one: one.worker))


def _keepers(counts: Mapping[str, int], devices: Collection[str], held: Held) -> dict[str, str]:
    """A largest set of devices that keep a variant they hold (augmenting paths; immediate if each holds one).

    Variants from which no path led to a free place stay so, whatever is placed later: they are not tried again.
    """
    placed: dict[str, str] = {}
    hosts: dict[str, list[str]] = {variant: [] for variant in counts}
    full: set[str] = set()

    def keep(device: str, tried: set[str]) -> bool:
        for variant in held.get(device, ()):
            if variant not in hosts or variant in tried:
                continue
            tried.add(variant)
            if len(hosts[variant]) >= counts[variant] and not _moved_away(variant, tried):
                continue
            hosts[variant].append(device)
            placed[device] = variant
            return True
        return False

    def _moved_away(variant: str, tried: set[str]) -> bool:
        for other in hosts[variant]:
            if keep(other, tried):
                hosts[variant].remove(other)
                return True
        return False

    for device in devices:
        tried = set(full)
        if not keep(device, tried):
            full = tried
    return placed


def _strangeness(holds: Collection[str], application: str) -> int:
    """0 for a device that holds the application (it serves it until the new variant is ready), 1 empty, 2 another."""
    if any(parted(one)[0] == application for one in holds):
        return 0
    return 2 if holds else 1
