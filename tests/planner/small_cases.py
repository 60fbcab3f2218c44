"""Small random cases and a brute force that knows nothing of the solvers."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from tidewise.core.case import Case, CaseApplication, CaseVariant


def small_case(seed: int, *, load: float | None = None, terms: bool = False) -> Case:
    """Up to 2 device types of up to 3 devices, 2 or 3 applications, 2 variants each; some pairs cannot serve."""
    draw = random.Random(seed)
    types = {f"t{t}": draw.randint(1, 3) for t in range(draw.randint(1, 2))}
    names = [f"a{a}" for a in range(draw.randint(1, 3))]
    variants = {f"{a}v{v}": CaseVariant(a, round(draw.uniform(0.5, 1.0), 3)) for a in names for v in range(2)}
    capacity = {t: {v: round(draw.uniform(2, 20), 2) for v in variants if draw.random() < 0.85} for t in types}
    scale = draw.choice((3, 8, 14)) if load is None else load
    applications = {
        a: CaseApplication(
            demand=0.0 if draw.random() < 0.1 else round(draw.uniform(0.2, 2) * scale, 2),
            weight=draw.choice((0.5, 1.0, 3.0)) if terms else 1.0,
            min_accuracy=draw.choice((0.0, 0.6, 0.75)) if terms else 0.0,
        )
        for a in names
    }
    current = {t: dict.fromkeys(draw.sample(sorted(variants), 1), 1) for t in types} if terms else {}
    return Case(types, applications, variants, capacity, current)


def all_counts(case: Case) -> Iterator[dict[str, dict[str, int]]]:
    """Every way to host variants on the devices."""
    per_type = [list(_hostings(case, t)) for t in case.device_types]
    for rows in itertools.product(*per_type):
        yield dict(zip(case.device_types, rows, strict=True))


def _hostings(case: Case, device_type: str) -> Iterator[dict[str, int]]:
    useful = [
        v
        for v, rate in case.capacity.get(device_type, {}).items()
        if rate > 0 and case.applications[case.variants[v].application].demand > 0
    ]
    limit = case.device_types[device_type]
    for chosen in itertools.combinations_with_replacement([None, *useful], limit):
        yield {v: chosen.count(v) for v in useful if v in chosen}


def value(case: Case, counts: dict[str, dict[str, int]], swap_cost: float = 0.0) -> tuple[float, float, float]:
    """(phi over servable applications, queries served, objective) of the best assignment to these counts."""
    served, weighted, fractions = 0.0, 0.0, [1.0]
    for name, application in case.applications.items():
        rooms = sorted(
            (
                (case.variants[v].accuracy, n * case.capacity[t][v])
                for t, row in counts.items()
                for v, n in row.items()
                if case.variants[v].application == name
            ),
            reverse=True,
        )
        got, gained = _fill(rooms, application.demand, application.min_accuracy)
        served += got
        weighted += application.weight * gained
        if application.demand > 0 and _servable(case, name):
            fractions.append(got / application.demand)
    scale = sum(a.weight * a.demand for a in case.applications.values()) or 1.0
    loads = sum(max(0, n - case.current.get(t, {}).get(v, 0)) for t, row in counts.items() for v, n in row.items())
    return min(fractions), served, weighted / scale - swap_cost * loads


def _fill(rooms: list[tuple[float, float]], demand: float, floor: float) -> tuple[float, float]:
    got = gained = 0.0
    for accuracy, room in rooms:
        part = min(room, demand - got)
        if floor > accuracy:
            part = min(part, max(0.0, (gained - floor * got) / (floor - accuracy)))
        got, gained = got + part, gained + part * accuracy
    return got, gained


def _servable(case: Case, name: str) -> bool:
    floor = case.applications[name].min_accuracy
    return any(
        rate > 0 and case.variants[v].application == name and case.variants[v].accuracy >= floor
        for row in case.capacity.values()
        for v, rate in row.items()
    )


def brute_force(case: Case, swap_cost: float = 0.0) -> tuple[float, float, float]:
    """The lexicographic optimum (phi, served, objective), values this close counting as equal."""
    best = (-1.0, -1.0, -1e9)
    for counts in all_counts(case):
        found = value(case, counts, swap_cost)
        for mine, known in zip(found, best, strict=True):
            if abs(mine - known) > 1e-7:
                best = found if mine > known else best
                break
    return best
