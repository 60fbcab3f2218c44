"""A solution of a planning case, and the check that trusts no solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tidewise.core.case import Case


class Status(StrEnum):
    """What is known of a solution.

    OPTIMAL: all demand is served and no plan is better by more than the tolerance. FEASIBLE: all demand is served,
    the gap says how much better a plan might be. OVERLOAD: no plan is known that serves all demand.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    OVERLOAD = "overload"


@dataclass(frozen=True, slots=True)
class Solution:
    """How many devices of each type host which variant, and what that serves.

    ``objective`` is the weighted mean accuracy over all demand (unserved demand counts as 0) less the swap cost;
    ``bound`` is a certified upper bound on it. ``phi`` is the fraction of its demand that every application is
    served at least. ``busy`` is in devices, ``served`` in queries per second, ``cpu`` and ``wall`` in seconds.
    ``effective_accuracy`` is the mean accuracy over served queries, None if none is served. ``planned`` is the demand
    planned for where it differs from the case's because of headroom.

    Under overload ``phi_bound`` bounds phi over the applications that can be served at all, ``served_bound`` the
    queries per second served by any plan that keeps this phi, and ``bound`` the objective of any plan that keeps both.
    """

    status: Status
    objective: float
    bound: float
    phi: float
    effective_accuracy: float | None
    served: Mapping[str, float]
    counts: Mapping[str, Mapping[str, int]]
    busy: Mapping[str, Mapping[str, float]]
    loads: int
    planned: Mapping[str, float] = field(default_factory=dict)
    method: str = ""
    phi_bound: float = 1.0
    served_bound: float | None = None
    swap_cost: float = 0.0
    cpu: float = 0.0
    wall: float = 0.0

    @property
    def gap(self) -> float:
        """(bound - objective) / bound: how much of the bound may be missing."""
        return (self.bound - self.objective) / self.bound if self.bound > 0 else 0.0

    def as_json(self) -> dict[str, Any]:
        """The values `tidewise plan --json` prints."""
        return {
            "status": str(self.status),
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "phi": self.phi,
            "phi_bound": self.phi_bound,
            "served_bound_qps": self.served_bound,
            "effective_accuracy": self.effective_accuracy,
            "served_qps": dict(self.served),
            "counts": {device_type: dict(row) for device_type, row in self.counts.items()},
            "busy": {device_type: dict(row) for device_type, row in self.busy.items()},
            "loads": self.loads,
            "planned_qps": dict(self.planned),
            "method": self.method,
            "cpu_s": self.cpu,
            "wall_s": self.wall,
        }


def loads(case: Case, counts: Mapping[str, Mapping[str, int]]) -> int:
    """How many devices must load a variant: sum of max(0, n - current)."""
    return sum(
        max(0, n - case.current.get(device_type, {}).get(variant, 0))
        for device_type, row in counts.items()
        for variant, n in row.items()
    )


def consistent(case: Case, solution: Solution, tolerance: float = 1e-6) -> bool:
    """Whether the solution keeps every promise it makes about the case."""
    return next(faults(case, solution, tolerance), None) is None


def faults(case: Case, solution: Solution, tolerance: float = 1e-6) -> Iterator[str]:
    """One sentence per broken promise. Recomputes everything from names, so that no solver is trusted."""
    yield from _count_faults(case, solution)
    if any(_unknown_names(case, solution)):
        return
    yield from _headroom_faults(case, solution, tolerance)
    planned = case.with_demand(solution.planned)
    yield from _flow_faults(planned, solution, tolerance)
    yield from _promise_faults(planned, solution, tolerance)
    yield from _value_faults(planned, solution, tolerance)


def _unknown_names(case: Case, solution: Solution) -> Iterator[str]:
    for table in (solution.counts, solution.busy):
        for device_type, row in table.items():
            if device_type not in case.device_types:
                yield f"device type {device_type!r} is not in the case"
            yield from (f"variant {name!r} is not in the case" for name in row if name not in case.variants)
    yield from (
        f"application {name!r} is not in the case"
        for name in {**solution.served, **solution.planned}
        if name not in case.applications
    )


def _count_faults(case: Case, solution: Solution) -> Iterator[str]:
    yield from _unknown_names(case, solution)
    for device_type, row in solution.counts.items():
        if any(type(n) is not int or n < 0 for n in row.values()):
            yield f"{device_type}: counts must be whole numbers of at least 0"
        elif sum(row.values()) > case.device_types.get(device_type, 0):
            yield f"{device_type}: {sum(row.values())} devices planned, {case.device_types.get(device_type, 0)} exist"


def _headroom_faults(case: Case, solution: Solution, tolerance: float) -> Iterator[str]:
    for name, planned in solution.planned.items():
        one = case.applications[name]
        if not one.demand * (1 - tolerance) <= planned <= one.demand * one.headroom * (1 + tolerance):
            yield f"{name}: planned for {planned} queries/s, outside demand {one.demand} and headroom {one.headroom}"


def _flow_faults(case: Case, solution: Solution, tolerance: float) -> Iterator[str]:
    served = dict.fromkeys(case.applications, 0.0)
    for device_type, variant, busy in _entries(solution.busy):
        hosts = solution.counts.get(device_type, {}).get(variant, 0)
        if not -tolerance <= busy <= hosts + tolerance:
            yield f"{device_type}: {busy} devices busy with {variant}, {hosts} host it"
        served[case.variants[variant].application] += busy * case.capacity.get(device_type, {}).get(variant, 0.0)
    for name, application in case.applications.items():
        said = solution.served.get(name, 0.0)
        scale = tolerance * max(1.0, application.demand)
        if not abs(said - served[name]) <= scale:
            yield f"{name}: says {said} queries/s are served, its devices serve {served[name]}"
        if not said <= application.demand + scale:
            yield f"{name}: serves {said} queries/s, more than its demand {application.demand}"


def _promise_faults(case: Case, solution: Solution, tolerance: float) -> Iterator[str]:
    for name, application in case.applications.items():
        said = solution.served.get(name, 0.0)
        if not said >= (solution.phi - tolerance) * application.demand:
            yield f"{name}: serves {said} queries/s, below phi {solution.phi} of {application.demand}"
        if said > 0 and _accuracy(case, solution, name) < (application.min_accuracy - tolerance) * said:
            yield f"{name}: mean accuracy of its served queries is below its floor {application.min_accuracy}"
    if solution.status is not Status.OVERLOAD and solution.phi < 1 - tolerance:
        yield f"status {solution.status} with phi {solution.phi}"


def _value_faults(case: Case, solution: Solution, tolerance: float) -> Iterator[str]:
    demand = sum(one.weight * one.demand for one in case.applications.values())
    value = sum(one.weight * _accuracy(case, solution, name) for name, one in case.applications.items())
    objective = (value / demand if demand > 0 else 0.0) - solution.swap_cost * solution.loads
    if not abs(objective - solution.objective) <= tolerance:
        yield f"says objective {solution.objective}, its assignment gives {objective}"
    if not solution.bound >= solution.objective - tolerance:
        yield f"bound {solution.bound} is below objective {solution.objective}"
    if not solution.phi_bound >= solution.phi - tolerance:
        yield f"bound {solution.phi_bound} on phi is below phi {solution.phi}"
    most = solution.served_bound
    if most is not None and not most >= sum(solution.served.values()) * (1 - tolerance) - tolerance:
        yield f"bound {most} on the queries served is below what is served, {sum(solution.served.values())}"
    if solution.loads != loads(case, solution.counts):
        yield f"says {solution.loads} loads, its counts need {loads(case, solution.counts)}"
    total = sum(solution.served.values())
    mean = sum(_accuracy(case, solution, name) for name in case.applications) / total if total > 0 else None
    if (mean is None) != (solution.effective_accuracy is None):
        yield "effective accuracy must be None exactly if nothing is served"
    elif mean is not None and not abs(mean - (solution.effective_accuracy or 0.0)) <= tolerance:
        yield f"says effective accuracy {solution.effective_accuracy}, its assignment gives {mean}"


def _accuracy(case: Case, solution: Solution, application: str) -> float:
    """Accuracy-weighted queries per second the application is served."""
    return sum(
        busy * case.capacity.get(device_type, {}).get(variant, 0.0) * case.variants[variant].accuracy
        for device_type, variant, busy in _entries(solution.busy)
        if case.variants[variant].application == application
    )


def _entries(table: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str, float]]:
    for device_type, row in table.items():
        for variant, value in row.items():
            yield device_type, variant, value
