"""What a plan does beyond the solver's counts: idle applications keep a device, and no device is left empty.

Rules. An application without demand has one device set aside for it, as long as every application can have one: the
device stays with the cheapest variant of it that is loaded there, or gets the most accurate one it can run. Devices
the solver has no use for become extra replicas, one by one, of the application that is then closest to its limit
(demand plus two standard deviations, over capacity), where one that is already loaded counts for more.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tidewise.controller.case_builder import Counts
from tidewise.core.case import Case

DEVIATIONS = 2.0
LEAST_RATE = 1.0  # queries per second an idle application is credited with, so that spares spread over all
RESIDENT = 1.3  # a spare that need not load anything is worth this much more


def reserve(case: Case) -> dict[str, dict[str, int]]:
    """Counts set aside for applications without demand: one device each, none if devices are too few for all."""
    busy = sorted(
        (n for n, one in case.applications.items() if one.demand > 0), key=lambda n: (-case.applications[n].demand, n)
    )
    idle = sorted(name for name, one in case.applications.items() if one.demand <= 0)
    wishes = {name: _by_capacity(case, name) for name in busy} | {name: _for_idle(case, name) for name in idle}
    seats = _seat(case.device_types, wishes)
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for name in idle:
        if name in seats:
            found[seats[name]][_idle_variant(case, name, seats[name])] += 1
    return {kind: dict(row) for kind, row in found.items()}


def without(case: Case, reserved: Counts) -> Case:
    """The case with the reserved devices gone, which count as replicas of their applications."""
    left = {kind: n - sum(reserved.get(kind, {}).values()) for kind, n in case.device_types.items()}
    hosts: Counter[str] = Counter()
    for row in reserved.values():
        for variant, n in row.items():
            hosts[case.variants[variant].application] += n
    applications = {
        name: replace(one, min_replicas=max(0, one.min_replicas - hosts[name]))
        for name, one in case.applications.items()
    }
    return replace(case, device_types=left, applications=applications)


def filled(
    case: Case, counts: Counts, demand: Mapping[str, float], slo: Mapping[str, float]
) -> dict[str, dict[str, int]]:
    """The counts with every device in use that can answer anything; demand in queries per second, SLO in seconds."""
    full = {kind: Counter(counts.get(kind, {})) for kind in case.device_types}
    capacity = _capacity(case, full)
    for kind, row in full.items():
        offers = {name: _extra(case, kind, name) for name in case.applications}
        able = {name: variant for name, variant in offers.items() if variant is not None}
        for _ in range(case.device_types[kind] - row.total() if able else 0):
            name, variant = max(
                _candidates(case, kind, row, able),
                key=lambda one: (_strain(case, kind, row, one, capacity, demand, slo), one),
            )
            row[variant] += 1
            capacity[name] += case.capacity[kind][variant]
    return {kind: {name: n for name, n in row.items() if n > 0} for kind, row in full.items()}


def _candidates(case: Case, kind: str, row: Mapping[str, int], able: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(application, variant) a spare device may host: each application's pick, and what is loaded and not yet used."""
    for name, variant in able.items():
        yield name, variant
    for variant, n in case.current.get(kind, {}).items():
        name = case.variants[variant].application
        if n > row.get(variant, 0) and case.applications[name].demand <= 0 and case.capacity[kind].get(variant, 0) > 0:
            yield name, variant


def _strain(
    case: Case,
    kind: str,
    row: Mapping[str, int],
    one: tuple[str, str],
    capacity: Mapping[str, float],
    demand: Mapping[str, float],
    slo: Mapping[str, float],
) -> float:
    """How close the application is to its limit; higher is needier."""
    name, variant = one
    rate = max(demand.get(name, 0.0), 0.0)
    need = rate + DEVIATIONS * math.sqrt(max(rate, LEAST_RATE) / (slo[name] / 2))
    resident = case.current.get(kind, {}).get(variant, 0) > row.get(variant, 0)
    return need / max(capacity[name], 1e-9) * (RESIDENT if resident else 1.0)


def _capacity(case: Case, counts: Counts) -> dict[str, float]:
    found = dict.fromkeys(case.applications, 0.0)
    for kind, row in counts.items():
        for variant, n in row.items():
            found[case.variants[variant].application] += n * case.capacity.get(kind, {}).get(variant, 0.0)
    return found


def _extra(case: Case, kind: str, application: str) -> str | None:
    """The most accurate variant of the application this kind can run in time."""
    able = _able(case, kind, application)
    return max(able, key=lambda name: (case.variants[name].accuracy, able[name], name), default=None)


def _able(case: Case, kind: str, application: str) -> dict[str, float]:
    row = case.capacity.get(kind, {})
    return {name: rate for name, rate in row.items() if rate > 0 and case.variants[name].application == application}


def _idle_variant(case: Case, application: str, kind: str) -> str:
    able = _able(case, kind, application)
    resident = [name for name in able if case.current.get(kind, {}).get(name, 0) > 0]
    if resident:
        return max(resident, key=lambda name: (able[name], name))
    return max(able, key=lambda name: (case.variants[name].accuracy, able[name], name))


def _by_capacity(case: Case, application: str) -> list[str]:
    """Kinds that can answer the application, fastest first."""
    rates = {kind: max(_able(case, kind, application).values(), default=0.0) for kind in case.device_types}
    return sorted((kind for kind, rate in rates.items() if rate > 0), key=lambda kind: (-rates[kind], kind))


def _for_idle(case: Case, application: str) -> list[str]:
    """Kinds for an application without demand: where it is loaded, else the slowest that can run it."""
    slow_first = _by_capacity(case, application)[::-1]
    resident = {k for k in slow_first if any(case.current.get(k, {}).get(v, 0) for v in _able(case, k, application))}
    return sorted(slow_first, key=lambda kind: kind not in resident)


def _seat(places: Mapping[str, int], wishes: Mapping[str, list[str]]) -> dict[str, str]:
    """A largest matching of applications to kinds, in the order of ``wishes`` (augmenting paths)."""
    seated: dict[str, str] = {}

    def place(name: str, tried: set[str]) -> bool:
        for kind in wishes[name]:
            if kind in tried:
                continue
            tried.add(kind)
            sitting = [other for other, where in seated.items() if where == kind]
            if len(sitting) < places[kind] or any(place(other, tried) for other in sitting):
                seated[name] = kind
                return True
        return False

    for name in wishes:
        place(name, set())
    return seated
