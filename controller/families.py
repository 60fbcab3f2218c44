"""Families on devices: counts of families to devices with the fewest loads, and which variants each keeps warm."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from tidewise.controller.allocation.hull import Rung, hull
from tidewise.controller.case_builder import joined, parted
from tidewise.controller.kinds import Kind
from tidewise.core.case import Case
from tidewise.core.profile import Profile
from tidewise.core.scenario import Families

WARM = 3  # variants a device keeps of its family; two did not suffice
RESIDENT = 1.3  # a spare device that need not load anything is worth this much more
DEVIATIONS = 2.0
LEAST_USED = 1e-3  # devices
MUCH_USED = 0.2  # of the family's device time


def ladder(case: Case, kind: str, application: str, warm: Collection[str] | None = None) -> tuple[Rung, ...]:
    """The hull of an application's variants on a kind (of the warm ones, if given), fastest first."""
    names = case.variants if warm is None else {joined(application, one) for one in warm}
    row = {
        n: rate
        for n, rate in case.capacity.get(kind, {}).items()
        if n in names and case.variants[n].application == application
    }
    return hull(row, {name: case.variants[name].accuracy for name in row})


def with_spares(
    case: Case, counts: Families, current: Families, demand: Mapping[str, float], slo: Mapping[str, float]
) -> dict[str, dict[str, int]]:
    """The counts with every device in use: spares go, one by one, to the family closest to what it can carry.

    A family that would otherwise have to give up a device it holds counts for more.
    """
    full = {kind: Counter(counts.get(kind, {})) for kind in case.device_types}
    fastest = {(kind, name): _fastest(case, kind, name) for kind in full for name in case.applications}
    carried = {
        name: math.fsum(row[name] * fastest[kind, name] for kind, row in full.items()) for name in case.applications
    }
    need = {name: rate + DEVIATIONS * math.sqrt(max(rate, 0.2) / (slo[name] / 2)) for name, rate in demand.items()}
    for kind, row in full.items():
        able = [name for name in case.applications if fastest[kind, name] > 0]
        for _ in range(case.device_types[kind] - row.total() if able else 0):
            held = current.get(kind, {})
            strain = {
                name: need.get(name, 0.0)
                / max(carried[name], 1e-9)
                * (RESIDENT if row[name] < held.get(name, 0) else 1)
                for name in able
            }
            name = max(able, key=lambda one: (strain[one], one))
            row[name] += 1
            carried[name] += fastest[kind, name]
    return {kind: {name: n for name, n in row.items() if n > 0} for kind, row in full.items()}


def place_families(
    counts: Mapping[str, int], devices: Sequence[str], planned: Mapping[str, str], serving: Mapping[str, str]
) -> dict[str, str]:
    """The application of each device: as many as can keep what they were planned, else return to what they serve."""
    left = Counter(counts)
    placed: dict[str, str] = {}
    for known in (planned, serving):
        for device in devices:
            name = known.get(device, "")
            if device not in placed and left[name] > 0:
                placed[device] = name
                left[name] -= 1
    free = [device for device in devices if device not in placed]
    return placed | dict(zip(free, sorted(left.elements()), strict=False))


def warm_variants(
    rungs: Sequence[Rung],
    busy: Mapping[str, float],
    kind: Kind,
    memory: Mapping[str, int],
    kept: Collection[str] = (),
    most: int = WARM,
) -> tuple[Rung, ...]:
    """What a device keeps warm of its family, most accurate first, as far as its memory holds.

    The fastest; those the scenarios used, most used first; the most accurate; then the one in the middle. What is
    ``kept`` warm now stays if that leaves out none that is used much: a load costs more than a slightly better rung.
    """
    resident = [one for one in rungs if parted(one.variant)[1] in kept]
    used = sorted((one for one in rungs if busy.get(one.variant, 0.0) > LEAST_USED), key=lambda one: -busy[one.variant])
    much = MUCH_USED * sum(busy[one.variant] for one in used)
    if {rungs[0], *(one for one in used if busy[one.variant] > much)} <= set(resident):
        return _ranked(resident)
    middle = (rungs[0].accuracy + rungs[-1].accuracy) / 2
    between = sorted(rungs, key=lambda one: abs(one.accuracy - middle))
    chosen: list[Rung] = []
    for one in (rungs[0], *used, rungs[-1], *between):
        needed = sum(memory[each.variant] for each in (*chosen, one))
        if one not in chosen and len(chosen) < most and needed <= (kind.memory or math.inf):
            chosen.append(one)
    return _ranked(chosen)


def _ranked(rungs: Iterable[Rung]) -> tuple[Rung, ...]:
    return tuple(sorted(rungs, key=lambda one: (-one.accuracy, one.variant)))


def memory_of(case: Case, profile: Profile, device_type: str) -> dict[str, int]:
    """Bytes of each variant of the case on a device type; 0 where it was not measured."""
    entries = {name: profile.get(*parted(name), device_type) for name in case.variants}
    return {name: one.memory if one is not None else 0 for name, one in entries.items()}


def _fastest(case: Case, kind: str, application: str) -> float:
    row = case.capacity.get(kind, {})
    return max((rate for name, rate in row.items() if case.variants[name].application == application), default=0.0)
