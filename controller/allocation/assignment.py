"""The best assignment of demand to given counts, in closed form.

With the counts fixed no row couples the applications any more, and each fills its most accurate devices first.
Only the last variant it needs is partly busy. Under an accuracy floor it stops where the mean would fall below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidewise.controller.allocation.problem import Floats, Ints, Problem

SERVED = 1e-9  # a fraction this close to 1 counts as all demand
LEVEL = 1e-6  # values of a lexicographic level this close count as equal; integer programs are no more exact


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """What given counts serve: ``rate`` (K) and ``served`` (A) in queries per second, ``objective`` less swap cost."""

    rate: Floats
    served: Floats
    objective: float
    phi: float
    total: float
    missing: int  # replicas

    def better_than(self, other: Assignment | None) -> bool:
        """Lexicographic: phi, then queries served, then replicas, then the objective."""
        if other is None:
            return True
        if abs(self.phi - other.phi) > LEVEL:
            return self.phi > other.phi
        if abs(self.total - other.total) > LEVEL * max(1.0, self.total):
            return self.total > other.total
        return (-self.missing, self.objective) > (-other.missing, other.objective)


def assign(problem: Problem, counts: Ints) -> Assignment:
    """The best assignment for these counts (K)."""
    room = counts * problem.capacity
    rate = np.zeros(len(room))
    for a in np.nonzero(problem.demand > 0)[0].tolist():
        pairs = problem.pairs(a)
        most = _servable(problem, a, room[pairs], problem.accuracy[pairs])
        rate[pairs] = _fill(room[pairs], problem.accuracy[pairs], most)
    return measure(problem, counts, rate)


def measure(problem: Problem, counts: Ints, rate: Floats) -> Assignment:
    """The value of counts together with the rates (K) they serve."""
    served: Floats = np.bincount(problem.pair_application, rate, minlength=len(problem.applications)).astype(float)
    served = np.where(served >= problem.demand * (1 - SERVED), problem.demand, served)
    fractions = served[problem.demand > 0] / problem.demand[problem.demand > 0]
    accuracy = float((problem.weight[problem.pair_application] * problem.accuracy) @ rate) / problem.scale
    return Assignment(
        rate=rate,
        served=served,
        objective=accuracy - problem.swap_cost * problem.loads(counts),
        phi=float(fractions.min(initial=1.0)),
        total=float(served.sum()),
        missing=problem.missing_replicas(counts),
    )


def _servable(problem: Problem, a: int, room: Floats, accuracy: Floats) -> float:
    """Queries per second application a can be served by ``room`` with their mean accuracy at its floor or above."""
    demand, floor = problem.demand[a], problem.floor[a]
    if floor <= 0:
        return float(demand)
    surplus = np.cumsum((accuracy - floor) * room)
    short = np.nonzero(surplus < -1e-12 * demand)[0]
    if not len(short):
        return float(demand)
    k = short[0]
    before = surplus[k - 1] if k else 0.0
    return min(float(demand), float(room[:k].sum() + max(0.0, before) / (floor - accuracy[k])))


def _fill(room: Floats, accuracy: Floats, demand: float) -> Floats:
    """Fill the most accurate first; pairs of equal accuracy share their part alike (``accuracy`` is descending)."""
    edges = np.nonzero(np.diff(accuracy, prepend=np.inf))[0]
    if not len(edges):
        return room
    group = np.add.reduceat(room, edges)
    before = np.cumsum(group) - group
    part = np.clip((demand - before) / np.where(group > 0, group, 1.0), 0.0, 1.0)
    return room * np.repeat(part, np.diff(np.append(edges, len(room))))
