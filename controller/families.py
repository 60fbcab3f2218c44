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

Families = Mapping[str, Mapping[str, int]]
"""How many devices of each kind hold each application's family, by kind and application."""

WARM = 3  # variants a device keeps of its family; two did not suffice
RESIDENT = 1.3  # a spare device that need not load anything is worth this much more
DEVIATIONS = 2.0
NEAR = 0.1  # of the ladder's whole accuracy: no difference worth a load
ABOUT = 0.8  # of the speed: nearly as fast


def ladder(case: Case, kind: str, application: str, warm: Collection[str] | None = None) -> tuple[Rung, ...]:
    """The hull of an application's variants on a kind (of the warm ones, if given), fastest first."""
    names = case.variants if warm is None else {joined(application, one) for one in warm}
    row = case.capacity.get(kind, {})
    floor = case.applications[application].min_accuracy
    mine = [n for n in names if n in row and _serves(case, n, application, floor)]
    return hull(Rung(n, row[n], case.variants[n].accuracy) for n in mine)


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


def warm_variants(rungs: Sequence[Rung], wanted: Collection[str], kept: Collection[str]) -> tuple[Rung, ...]:
    """What a device keeps warm of its family, most accurate first.

    What the plan wants (which includes the fastest), unless what is ``kept`` warm now does nearly as well: a load costs
    more than a slightly better rung. It does if it has the fastest, and for every wanted rung one at most ``NEAR`` of
    the ladder's whole accuracy away that is at least ``ABOUT`` as fast.
    """
    resident = [one for one in rungs if parted(one.variant)[1] in kept]
    near = NEAR * (rungs[-1].accuracy - rungs[0].accuracy) + 1e-12
    aims = [one for one in rungs if one.variant in wanted]
    close = all(any(_does_for(other, one, near) for other in resident) for one in aims)
    return _ranked(resident if close and rungs[0] in resident else aims)


def _does_for(resident: Rung, wanted: Rung, near: float) -> bool:
    return abs(wanted.accuracy - resident.accuracy) <= near and resident.capacity >= ABOUT * wanted.capacity


def _ranked(rungs: Iterable[Rung]) -> tuple[Rung, ...]:
    return tuple(sorted(rungs, key=lambda one: (-one.accuracy, one.variant)))


def warm_room(case: Case, kinds: Mapping[str, Kind], profile: Profile) -> tuple[dict[str, int], dict[str, int]]:
    """Bytes of each variant, and bytes each kind may keep warm: its memory, else room for ``WARM`` of the largest."""
    sizes = {name: _bytes(name, kinds, profile) for name in case.variants}
    largest = max(sizes.values(), default=1)
    if all(kind.memory is None for kind in kinds.values()):
        sizes = dict.fromkeys(sizes, largest)
    return sizes, {kind.name: kind.memory or WARM * largest for kind in kinds.values()}


def _bytes(name: str, kinds: Mapping[str, Kind], profile: Profile) -> int:
    entries = (profile.get(*parted(name), kind.device_type) for kind in kinds.values())
    return max((one.memory for one in entries if one is not None), default=0) or 1


def _fastest(case: Case, kind: str, application: str) -> float:
    row, floor = case.capacity.get(kind, {}), case.applications[application].min_accuracy
    return max((rate for name, rate in row.items() if _serves(case, name, application, floor)), default=0.0)


def _serves(case: Case, variant: str, application: str, floor: float) -> bool:
    """Whether a device that holds the application may answer with this variant: none below the accuracy floor."""
    known = case.variants[variant]
    return known.application == application and known.accuracy >= floor
