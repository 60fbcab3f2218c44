"""A planning case: what the planner is asked, in the words of a person (names, queries per second, fractions)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tidewise.core.errors import CaseError

# Beyond these the arithmetic of solvers fails, not the planner: no cluster is near them.
MOST_QUERIES = 1e12  # per second
MOST_DEVICES = 1e7  # of one type
MOST_WEIGHT = 1e6


@dataclass(frozen=True, slots=True)
class CaseApplication:
    """What one application asks of the plan.

    ``demand`` is in queries per second, ``min_accuracy`` bounds the mean accuracy of its served queries,
    ``min_replicas`` is the least number of devices that host it, ``headroom`` multiplies the demand as long as the
    cluster can afford it (it shrinks to 1 before any query is shed).
    """

    demand: float
    weight: float = 1.0
    min_accuracy: float = 0.0
    min_replicas: int = 0
    headroom: float = 1.0


@dataclass(frozen=True, slots=True)
class CaseVariant:
    """One variant, with the accuracy the objective counts (a fraction)."""

    application: str
    accuracy: float


@dataclass(frozen=True, slots=True)
class Case:
    """Devices, applications, variants and capacities, all by name.

    ``capacity[device type][variant]`` is in queries per second, an absent entry means 0. ``current[device type]
    [variant]`` is how many devices host the variant now. Raises CaseError if a name is unknown or a number absurd.
    """

    device_types: Mapping[str, int]
    applications: Mapping[str, CaseApplication]
    variants: Mapping[str, CaseVariant]
    capacity: Mapping[str, Mapping[str, float]]
    current: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, count in self.device_types.items():
            _check_number(f"device type {name!r}", "count", count, high=MOST_DEVICES)
        for name, application in self.applications.items():
            _check_application(f"application {name!r}", application)
        for name, variant in self.variants.items():
            _check_known(f"variant {name!r}: application", [variant.application], self.applications)
            _check_number(f"variant {name!r}", "accuracy", variant.accuracy, high=1.0)
        for what, table, high in (
            ("capacity_qps", self.capacity, MOST_QUERIES),
            ("current", self.current, MOST_DEVICES),
        ):
            self._check_pairs(what, table, high)

    def _check_pairs(self, what: str, table: Mapping[str, Mapping[str, float]], high: float) -> None:
        _check_known(f"{what}: device type", table, self.device_types)
        for device_type, row in table.items():
            _check_known(f"{what} of {device_type!r}: variant", row, self.variants)
            for variant, value in row.items():
                _check_number(f"{what} of {device_type!r}", variant, value, high=high)

    def with_demand(self, demand: Mapping[str, float]) -> Case:
        """The same case with other demands (queries per second) for the applications named."""
        changed = {
            name: replace(application, demand=demand.get(name, application.demand))
            for name, application in self.applications.items()
        }
        return replace(self, applications=changed)

    def with_current(self, counts: Mapping[str, Mapping[str, int]]) -> Case:
        """The same case with these counts hosted now."""
        return replace(self, current=counts)


def _check_application(where: str, application: CaseApplication) -> None:
    _check_number(where, "demand_qps", application.demand, high=MOST_QUERIES)
    _check_number(where, "weight", application.weight, high=MOST_WEIGHT)
    _check_number(where, "min_accuracy", application.min_accuracy, high=1.0)
    _check_number(where, "min_replicas", application.min_replicas, high=MOST_DEVICES)
    _check_number(where, "headroom", application.headroom, low=1.0)


def _check_number(where: str, key: str, value: float, low: float = 0.0, high: float = math.inf) -> None:
    if not (low <= value <= high and math.isfinite(value)):
        limits = f"at least {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
        raise CaseError(f"{where}: {key} must be a finite number, {limits}; it is {value!r}")


def _check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = set(known)
    for name in names:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise CaseError(f"{what} {name!r} is not one of the case (known: {listed})")
