"""The plan that is always there: linear relaxation, rounded down, mended by moving single devices.

Rounding down frees devices the relaxation had split; planning for a little more demand than there is leaves the
moves enough of them. Every step counts work, none looks at a clock.
"""

from __future__ import annotations

import numpy as np

from tidewise.controller.allocation.lexicographic import Candidate, rank
from tidewise.controller.allocation.linear import INFINITY, LinearModel
from tidewise.controller.allocation.moves import improve
from tidewise.controller.allocation.problem import Floats, Problem

INFLATIONS = (0.0, 0.01, 0.02, 0.04, 0.08, 0.15)
SHORT = 3.0  # what a query short costs in the relaxation, in accuracy: more than any query is worth


def fast_plan(problem: Problem, most_moves: int = 400) -> Candidate:
    """A plan that respects every device, serves all demand if it finds how, and carries the relaxation's bound."""
    best: Candidate | None = None
    bound = np.inf
    for inflation in INFLATIONS:
        found, busy, _ = relax(problem, problem.demand * (1 + inflation))
        bound = found if inflation == 0.0 else bound
        counts = improve(problem, np.floor(busy + 1e-7).astype(np.int64), most_moves)
        ranked = rank(problem, counts)
        if best is None or ranked.better_than(best.assignment):
            best = Candidate(counts, ranked, bound, "fast")
        if ranked.phi >= 1.0:
            break
    assert best is not None
    return best


def relax(problem: Problem, demand: Floats) -> tuple[float, Floats, Floats]:
    """The compact relaxation (busy devices only, T + A rows) with unserved demand at a high price.

    Returns its objective, the busy devices (K) and the price of one device of each type (T).
    """
    model = LinearModel()
    busy = model.columns(len(problem.capacity), cost=problem.value)
    short = model.columns(len(demand), cost=-SHORT * problem.weight.max(initial=0.0) * demand / problem.scale)
    devices = model.rows(len(problem.types), -INFINITY, problem.devices)
    model.put(devices[problem.pair_type], busy, 1.0)
    served = model.rows(len(demand), np.where(demand > 0, 1.0, 0.0), np.where(demand > 0, 1.0, INFINITY))
    per_demand = problem.capacity / np.where(demand > 0, demand, 1.0)[problem.pair_application]
    model.put(served[problem.pair_application], busy, per_demand)
    model.put(served, short, 1.0)
    outcome = model.solve(relax=True)
    assert outcome.x is not None
    return (
        outcome.objective,
        outcome.x[: len(problem.capacity)],
        np.maximum(outcome.duals[: len(problem.types)], 0.0),
    )
