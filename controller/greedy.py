"""The plan that needs no solver: for when none answers and something must serve."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from tidewise.controller.worth import worth
from tidewise.core.case import Case
from tidewise.core.solution import Solution, Status, loads


def greedy(case: Case) -> Solution:
    """Device by device, fastest first, to the application served least, with its fastest variant there.

    Serves as much as possible and cares for accuracy last; the bound is the trivial one.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    served = dict.fromkeys(case.applications, 0.0)
    wanting = {name: one.demand for name, one in case.applications.items() if one.demand > 0}
    for kind in sorted(case.device_types, key=lambda kind: -max(case.capacity.get(kind, {}).values(), default=0.0)):
        fastest = _fastest(case, kind)
        for _ in range(case.device_types[kind]):
            able = [name for name in wanting if name in fastest and served[name] < wanting[name]]
            if not able:
                break
            name = min(able, key=lambda one: (served[one] / wanting[one], one))
            counts[kind][fastest[name]] += 1
            served[name] += case.capacity[kind][fastest[name]]
    return _solution(case, {kind: dict(row) for kind, row in counts.items()})


def _fastest(case: Case, kind: str) -> dict[str, str]:
    """For every application the fastest variant on this kind that keeps its accuracy floor."""
    found: dict[str, str] = {}
    row = case.capacity.get(kind, {})
    for variant, rate in sorted(row.items()):
        name = case.variants[variant].application
        allowed = case.variants[variant].accuracy >= case.applications[name].min_accuracy
        if rate > 0 and allowed and rate > row.get(found.get(name, ""), 0.0):
            found[name] = variant
    return found


def _solution(case: Case, counts: Mapping[str, Mapping[str, int]]) -> Solution:
    value = worth(case, counts, {name: one.demand for name, one in case.applications.items()})
    served = {name: value.served.get(name, 0.0) * one.demand for name, one in case.applications.items()}
    busy: dict[str, dict[str, float]] = defaultdict(dict)
    for (kind, variant), rate in value.rates.items():
        busy[kind][variant] = rate / case.capacity[kind][variant]
    total = sum(served.values())
    accuracy = sum(case.variants[variant].accuracy * rate for (_, variant), rate in value.rates.items())
    return Solution(
        status=Status.FEASIBLE if value.phi >= 1 else Status.OVERLOAD,
        objective=value.objective,
        bound=1.0,
        phi=value.phi,
        effective_accuracy=accuracy / total if total > 0 else None,
        served=served,
        counts=counts,
        busy=busy,
        loads=loads(case, counts),
        method="greedy",
    )
