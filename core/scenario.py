"""A planning case with several weighted demand scenarios, and its solution: which families the devices hold warm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidewise.core.case import Case
from tidewise.core.errors import CaseError
from tidewise.core.solution import Status


@dataclass(frozen=True, slots=True)
class ScenarioCase:
    """A case whose demand is one of several scenarios.

    ``demands[s]`` holds queries per second by application, ``weights[s]`` how much the scenario counts.
    ``memory`` is bytes by variant and ``warm_budget`` bytes a device of each type may keep warm; types without a
    budget keep every useful variant warm. The demand inside ``case`` is the weighted mean.
    """

    case: Case
    demands: tuple[Mapping[str, float], ...]
    weights: tuple[float, ...]
    memory: Mapping[str, int] = field(default_factory=dict)
    warm_budget: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.demands or len(self.demands) != len(self.weights):
            raise CaseError(
                f"case: {len(self.weights)} scenario_weights for {len(self.demands)} scenarios; give one for each"
            )
        if not sum(self.weights) > 0:
            raise CaseError("case: scenario_weights must not all be 0")
        unknown = sorted(set(self.warm_budget) - set(self.case.device_types))
        if unknown:
            raise CaseError(f"case: warm_budget_bytes names unknown device type {unknown[0]!r}")

    def families(self) -> dict[str, dict[str, int]]:
        """How many devices of each type hold each application now, whatever variant they host."""
        held: dict[str, dict[str, int]] = {name: {} for name in self.case.device_types}
        for device_type, row in self.case.current.items():
            for variant, count in row.items():
                family = self.case.variants[variant].application
                held[device_type][family] = held[device_type].get(family, 0) + count
        return held


@dataclass(frozen=True, slots=True)
class ScenarioValue:
    """What the plan is worth in one scenario.

    ``accuracy`` is the weighted mean accuracy over demand (unserved counts as 0), ``least_served`` the served fraction
    of the application that is served worst.
    """

    weight: float
    accuracy: float
    least_served: float
    served: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ScenarioSolution:
    """Families by device type, the variants kept warm for each, and the value in every scenario.

    ``objective`` is mean accuracy + floor * least served - swap cost * loads over the scenarios, with the warm sets
    as they are; ``bound`` is certified for every placement and every warm set.
    """

    status: Status
    objective: float
    bound: float
    families: Mapping[str, Mapping[str, int]]
    warm: Mapping[str, Mapping[str, tuple[str, ...]]]
    counts: Mapping[str, Mapping[str, int]]
    values: tuple[ScenarioValue, ...]
    loads: int
    cpu: float = 0.0
    wall: float = 0.0

    @property
    def gap(self) -> float:
        """(bound - objective) / bound."""
        return (self.bound - self.objective) / self.bound if self.bound > 0 else 0.0

    def as_json(self) -> dict[str, Any]:
        """The values `tidewise plan --json` prints."""
        weights = sum(value.weight for value in self.values)
        return {
            "status": str(self.status),
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "phi": min(value.least_served for value in self.values),
            "effective_accuracy": self._effective_accuracy(weights),
            "served_qps": {name: [value.served[name] for value in self.values] for name in self.values[0].served},
            "counts": {name: dict(row) for name, row in self.counts.items()},
            "families": {name: dict(row) for name, row in self.families.items()},
            "warm": {name: {a: list(some) for a, some in row.items()} for name, row in self.warm.items()},
            "scenarios": [
                {"weight": value.weight, "value": value.accuracy, "least_served": value.least_served}
                for value in self.values
            ],
            "loads": self.loads,
            "cpu_s": self.cpu,
            "wall_s": self.wall,
        }

    def _effective_accuracy(self, weights: float) -> float | None:
        if not any(sum(value.served.values()) for value in self.values):
            return None
        return sum(value.weight * value.accuracy for value in self.values) / weights


def scenario_faults(asked: ScenarioCase, solution: ScenarioSolution, tolerance: float = 1e-6) -> Iterator[str]:
    """One sentence per broken promise of a scenario solution, recomputed from names: no solver is trusted."""
    if len(solution.values) != len(asked.demands):
        yield f"values for {len(solution.values)} scenarios, {len(asked.demands)} were asked"
        return
    unknown = {*solution.families, *solution.warm} - {*asked.case.device_types}
    names = {name for row in solution.families.values() for name in row} - {*asked.case.applications}
    if unknown or names:
        yield f"{min(unknown | names)!r} is not in the case"
        return
    for device_type, row in solution.families.items():
        there = asked.case.device_types[device_type]
        if any(type(n) is not int or n < 0 for n in row.values()):
            yield f"{device_type}: counts must be whole numbers of at least 0"
        elif sum(row.values()) > there:
            yield f"{device_type}: {sum(row.values())} devices planned, {there} exist"
        for name in row:
            yield from _warm_faults(asked, solution, device_type, name)
    yield from _value_faults(asked, solution, tolerance)


def _warm_faults(asked: ScenarioCase, solution: ScenarioSolution, device_type: str, name: str) -> Iterator[str]:
    """Faults of what the devices of one type keep warm of one application."""
    warm = solution.warm.get(device_type, {}).get(name, ())
    rates = asked.case.capacity.get(device_type, {})
    if not warm and solution.families[device_type][name]:
        yield f"{device_type}: nothing of {name} is kept warm"
    for variant in warm:
        found = asked.case.variants.get(variant)
        if found is None or found.application != name or not rates.get(variant, 0.0) > 0:
            yield f"{device_type}: {variant!r} cannot be kept warm for {name}"
    budget = asked.warm_budget.get(device_type, math.inf)
    if sum(asked.memory.get(one, 0) for one in warm) > budget:
        yield f"{device_type}: what is kept warm of {name} exceeds {budget} bytes"


def _value_faults(asked: ScenarioCase, solution: ScenarioSolution, tolerance: float) -> Iterator[str]:
    if not solution.bound >= solution.objective - tolerance:
        yield f"bound {solution.bound} is below objective {solution.objective}"
    for value, demand in zip(solution.values, asked.demands, strict=True):
        yield from _scenario_faults(asked.case, value, demand, tolerance)
    for name in asked.case.applications:
        room = sum(
            n * max((asked.case.capacity.get(t, {}).get(v, 0.0) for v in solution.warm[t][name]), default=0.0)
            for t, row in solution.families.items()
            if (n := row.get(name, 0)) and name in solution.warm.get(t, {})
        )
        for value, demand in zip(solution.values, asked.demands, strict=True):
            said = value.served.get(name, 0.0)
            if not said <= min(room, demand.get(name, 0.0)) + tolerance * max(1.0, room):
                yield f"{name}: says {said} queries/s are served; its devices can serve {room}"


def _scenario_faults(case: Case, value: ScenarioValue, demand: Mapping[str, float], tolerance: float) -> Iterator[str]:
    """Faults of what is said of one scenario: the worst served fraction, and an accuracy beyond the best variants'."""
    best = dict.fromkeys(case.applications, 0.0)
    for one in case.variants.values():
        best[one.application] = max(best[one.application], one.accuracy)
    asked = {name: rate for name, rate in demand.items() if rate > 0}
    least = min((value.served.get(name, 0.0) / rate for name, rate in asked.items()), default=1.0)
    if not abs(value.least_served - min(1.0, least)) <= tolerance:
        yield f"says {value.least_served} of every demand is served at least, it is {least}"
    weight = {name: case.applications[name].weight for name in asked}
    whole = sum(weight[name] * rate for name, rate in asked.items())
    most = sum(weight[name] * value.served.get(name, 0.0) * best[name] for name in asked) / (whole or 1.0)
    if not 0 <= value.accuracy <= most + tolerance:
        yield f"says accuracy {value.accuracy}, the best variants would give {most}"
