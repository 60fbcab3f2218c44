"""The arrays every solver works on: one row per (device type, variant) pair that can serve demand."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from tidewise.core.case import Case

NOTHING = 1e-9  # a type whose devices together could carry no more of a demand than this is no help
_Row = tuple[int, float, int, float, int, int, float]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Terms:
    """Policy terms of the objective beyond accuracy.

    ``swap_cost`` is the objective given up per load. ``max_min`` first lifts the application whose mean accuracy,
    relative to its best variant, is worst, and only then the weighted mean.
    """

    swap_cost: float = 0.0
    max_min: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A case as arrays: T device types, A applications, K useful pairs.

    Pairs are sorted by application, within it from the most to the least accurate; ``start[a]:start[a + 1]`` are the
    pairs of application a. ``scale`` is sum_a w_a D_a (1 if that is 0), what the objective is divided by.

    A device is credited with at most its application's whole demand: it can serve no more, and the relaxation is
    tighter for it. ``rate`` is what it really could.
    """

    case: Case
    types: tuple[str, ...]
    applications: tuple[str, ...]
    variants: tuple[str, ...]
    devices: Ints  # (T) devices of each type
    demand: Floats  # (A) queries per second
    weight: Floats  # (A)
    floor: Floats  # (A) least mean accuracy of served queries
    replicas: Ints  # (A) least number of hosting devices
    best: Floats  # (A) accuracy of the best variant, wherever it may run
    pair_type: Ints  # (K)
    pair_variant: Ints  # (K)
    pair_application: Ints  # (K)
    capacity: Floats  # (K) queries per second of one device, at most the demand
    rate: Floats  # (K) queries per second of one device
    accuracy: Floats  # (K)
    current: Ints  # (K) devices that host the pair now
    start: Ints  # (A + 1)
    scale: float
    swap_cost: float
    least: float = 1.0  # the fraction of every demand that has to be served
    bonus: float = 0.0  # added to the objective for every query per second served

    @property
    def value(self) -> Floats:
        """(K) Objective gained by one busy device of each pair: (w_a A_v / scale + bonus) P_tv."""
        return self.worth * self.capacity

    @property
    def worth(self) -> Floats:
        """(K) Objective gained by one query per second: w_a A_v / scale + bonus."""
        return self.weight[self.pair_application] * self.accuracy / self.scale + self.bonus

    @property
    def servable(self) -> NDArray[np.bool_]:
        """(A) Applications with demand that at least one device could serve within their floor."""
        return (np.diff(self.start) > 0) & (self.demand > 0)

    @property
    def most(self) -> Ints:
        """(K) No plan needs more devices of a pair than this."""
        needed = np.ceil(self.demand[self.pair_application] / self.capacity - 1e-9)
        needed = np.maximum(needed, self.replicas[self.pair_application])
        return np.minimum(self.devices[self.pair_type], needed).astype(np.int64)

    def missing_replicas(self, counts: Ints) -> int:
        """How many hosting devices the applications lack."""
        hosts = np.bincount(self.pair_application, counts, minlength=len(self.applications))
        return int(np.maximum(self.replicas - hosts, 0).sum())

    def pairs(self, application: SupportsIndex) -> slice:
        """The pairs of one application."""
        a = operator.index(application)
        return slice(int(self.start[a]), int(self.start[a + 1]))

    def loads(self, counts: Ints) -> int:
        """How many of the planned devices must load their variant."""
        return int(np.maximum(counts - self.current, 0).sum())


def build(case: Case, terms: Terms | None = None, *, capped: bool = True) -> Problem:
    """The arrays of a case. Pairs that others beat are left out; ``capped`` limits capacities to the demand."""
    terms = terms or Terms()
    types, applications, variants = tuple(case.device_types), tuple(case.applications), tuple(case.variants)
    asked = [case.applications[name] for name in applications]
    demand = np.array([one.demand for one in asked], float)
    replicas = np.array([one.min_replicas for one in asked], np.int64)
    weight = np.array([one.weight for one in asked], float)
    pairs = _pairs(case, _wanted(case), terms.swap_cost > 0, capped)
    return Problem(
        case=case,
        types=types,
        applications=applications,
        variants=variants,
        devices=np.array(list(case.device_types.values()), np.int64),
        demand=demand,
        weight=weight,
        floor=np.array([one.min_accuracy for one in asked], float),
        replicas=replicas,
        best=_best(case),
        scale=float(weight @ demand) or 1.0,
        swap_cost=terms.swap_cost,
        **pairs,
    )


def _best(case: Case) -> Floats:
    best = dict.fromkeys(case.applications, 0.0)
    for variant in case.variants.values():
        best[variant.application] = max(best[variant.application], variant.accuracy)
    return np.array(list(best.values()), float)


def _wanted(case: Case) -> NDArray[np.bool_]:
    """(A) Applications that want devices and whose floor some device can keep."""
    best = dict.fromkeys(case.applications, -1.0)
    for device_type, row in case.capacity.items():
        for name, rate in row.items():
            variant = case.variants[name]
            if rate > 0 and case.device_types[device_type] > 0:
                best[variant.application] = max(best[variant.application], variant.accuracy)
    asked = case.applications.items()
    wanted = [(one.demand > 0 or one.min_replicas > 0) and best[name] >= one.min_accuracy for name, one in asked]
    return np.array(wanted, bool)


def _pairs(case: Case, wanted: NDArray[np.bool_], residents: bool, capped: bool) -> dict[str, Any]:
    application_of = {name: i for i, name in enumerate(case.applications)}
    rows = []
    for v, (variant, entry) in enumerate(case.variants.items()):
        a = application_of[entry.application]
        demand = case.applications[entry.application].demand
        for t, (device_type, devices) in enumerate(case.device_types.items()):
            rate = case.capacity.get(device_type, {}).get(variant, 0.0)
            if rate > 0 and wanted[a] and rate * devices > NOTHING * demand:
                now = case.current.get(device_type, {}).get(variant, 0)
                useful = min(rate, demand) if capped and demand > 0 else rate
                rows.append((a, -entry.accuracy, t, -useful, v, now, rate))
    rows.sort()
    rows = list(_undominated(rows, residents))
    table = np.array(rows, float).reshape(-1, 7)
    application = table[:, 0].astype(np.int64)
    return {
        "pair_application": application,
        "accuracy": -table[:, 1],
        "pair_type": table[:, 2].astype(np.int64),
        "capacity": -table[:, 3],
        "rate": table[:, 6],
        "pair_variant": table[:, 4].astype(np.int64),
        "current": table[:, 5].astype(np.int64),
        "start": np.searchsorted(application, np.arange(len(wanted) + 1)),
    }


def _undominated(rows: list[_Row], residents: bool) -> list[_Row]:
    """Drop pairs that another of the same application and type beats or equals in accuracy and capacity.

    No best plan needs them; under a swap cost only those that no device hosts now, for they would all have to load
    (``residents`` keeps the others). Rows come sorted by accuracy, then capacity, both descending.
    """
    fastest: dict[tuple[int, int], float] = {}
    kept = []
    for row in rows:
        key, rate = (row[0], row[2]), -row[3]
        if rate > fastest.get(key, 0.0) or (residents and row[5] > 0):
            fastest[key] = max(rate, fastest.get(key, 0.0))
            kept.append(row)
    return kept


def restrict(problem: Problem, kept: Ints) -> Problem:
    """The same problem with these pairs only (ascending)."""
    application = problem.pair_application[kept]
    return replace(
        problem,
        pair_type=problem.pair_type[kept],
        pair_variant=problem.pair_variant[kept],
        pair_application=application,
        capacity=problem.capacity[kept],
        rate=problem.rate[kept],
        accuracy=problem.accuracy[kept],
        current=problem.current[kept],
        start=np.searchsorted(application, np.arange(len(problem.applications) + 1)),
    )


def counts_by_name(problem: Problem, values: Ints | Floats) -> Mapping[str, Mapping[str, float]]:
    """The nonzero values of the pairs as {device type: {variant: value}}, every device type present."""
    named: dict[str, dict[str, float]] = {name: {} for name in problem.types}
    for k in np.nonzero(values)[0]:
        named[problem.types[problem.pair_type[k]]][problem.variants[problem.pair_variant[k]]] = values[k].item()
    return named
