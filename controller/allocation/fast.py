"""The plan that is always there: linear relaxation, rounded down, mended by moving devices.

Rounding down frees the devices the relaxation had split; planning for a little more demand than there is leaves the
moves enough of them. If the relaxation itself cannot serve all demand, the largest common fraction phi it can serve
takes the place of demand. Every step counts work, none looks at a clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tidewise.controller.allocation.assignment import LEVEL
from tidewise.controller.allocation.envelope import envelope
from tidewise.controller.allocation.goal import Aim, Goal
from tidewise.controller.allocation.highs import keep_floors, relaxed_bound
from tidewise.controller.allocation.kernel import Kernel, improve
from tidewise.controller.allocation.lexicographic import Candidate, rank
from tidewise.controller.allocation.linear import INFINITY, LinearModel
from tidewise.controller.allocation.problem import Floats, Ints, Problem, restrict

INFLATIONS = (0.0, 0.01, 0.02, 0.04, 0.08, 0.15)
DEFLATIONS = (0.001, 0.004, 0.01, 0.02, 0.04, 0.08, 0.15)  # of phi: rounding down costs a small cluster more
SHORT = 1e4  # what a query short costs in the relaxation, in accuracy: more than whatever its devices could earn
CLOSE = 1e-3  # a fraction promised under overload need not be met better than this
MOST_MOVES = 400
MOVE_WORK = 2_000_000  # arcs looked at in all: a move of many types and applications costs more


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """The compact relaxation: its objective bounds every plan, ``busy`` (K) in devices, ``prices`` (T) per device."""

    objective: float
    busy: Floats
    prices: Floats
    short: float  # largest unserved fraction of any application


def fast_plan(problem: Problem, kernel: Kernel, relaxation: Relaxation) -> Candidate:
    """A plan that respects every device, serves all demand if it finds how, and carries the relaxation's bound."""
    best: Candidate | None = None
    arcs = (len(problem.types) + 1) ** 2 * len(problem.applications)
    moves = min(MOST_MOVES, MOVE_WORK // arcs + 20)
    for demand, promised, relaxed_before in _attempts(problem, relaxation):
        busy = (relaxed_before or relax(problem, demand)).busy
        counts = improve(problem, kernel, np.floor(busy + 1e-7).tolist(), promised, moves)
        ranked = rank(problem, counts)
        if best is None or ranked.better_than(best.assignment):
            best = Candidate(counts, ranked, relaxation.objective, "fast")
        if ranked.phi >= promised - (1e-9 if promised == 1.0 else CLOSE):
            break
    assert best is not None
    return best if relaxation.short <= 1e-9 else replace(best, bound=bound_of_level(problem, best))


def _attempts(problem: Problem, relaxation: Relaxation) -> Iterator[tuple[Floats, float, Relaxation | None]]:
    """Demands to relax, the fraction then promised to all, and the relaxation where it is known already."""
    if relaxation.short <= 1e-9:
        for inflation in INFLATIONS:
            yield problem.demand * (1 + inflation), 1.0, relaxation if inflation == 0.0 else None
    else:
        fraction = common_fraction(problem)
        for deflation in DEFLATIONS:
            yield problem.demand * fraction * (1 - deflation), fraction * (1 - deflation), None


def bound_of_level(problem: Problem, candidate: Candidate) -> float:
    """Bounds the objective of every plan with at least the candidate's phi and queries served."""
    ranked = candidate.assignment
    goal = Goal(Aim.ACCURACY, ranked.phi * (1 - LEVEL), ranked.total * (1 - LEVEL))
    return relaxed_bound(restrict(problem, envelope(problem)), goal)


def relax(problem: Problem, demand: Floats) -> Relaxation:
    """The relaxation with T + A rows (busy devices only), unserved demand at a high price."""
    whole, kept = problem, envelope(problem)
    problem = restrict(whole, kept)
    model = LinearModel()
    busy = model.columns(len(problem.capacity), cost=problem.value)
    price = SHORT * problem.weight.max(initial=0.0) or 1.0
    short = model.columns(len(demand), cost=-price * demand / problem.scale)
    _devices_and_demand(model, problem, busy, demand, low=1.0)
    model.put(model.height - len(demand) + np.arange(len(demand)), short, 1.0)
    keep_floors(model, problem, busy)
    outcome = model.solve(relax=True)
    assert outcome.x is not None
    size = len(problem.capacity)
    missing = outcome.x[size:][demand > 0].max(initial=0.0)
    split = np.zeros(len(whole.capacity))
    split[kept] = outcome.x[:size]
    prices = np.maximum(outcome.duals[: len(problem.types)], 0.0)
    return Relaxation(outcome.objective, split, prices, missing)


def common_fraction(problem: Problem) -> float:
    """The largest fraction of every servable application's demand that the relaxation serves; bounds phi."""
    problem = restrict(problem, envelope(problem))
    model = LinearModel()
    busy = model.columns(len(problem.capacity))
    phi = model.columns(1, cost=1.0, high=1.0)
    _devices_and_demand(model, problem, busy, problem.demand * problem.servable, low=0.0, high=INFINITY)
    rows = model.height - len(problem.demand) + np.nonzero(problem.servable)[0]
    model.put(rows, phi, -1.0)
    keep_floors(model, problem, busy)
    return model.solve(relax=True).objective


def _devices_and_demand(
    model: LinearModel, problem: Problem, busy: Ints, demand: Floats, *, low: float, high: float = 1.0
) -> None:
    """Device rows, then one row per application: the served part of its demand (free where it has none)."""
    devices = model.rows(len(problem.types), -INFINITY, problem.devices)
    model.put(devices[problem.pair_type], busy, 1.0)
    asked = demand > 0
    served = model.rows(len(demand), np.where(asked, low, 0.0), np.where(asked, high, INFINITY))
    share = problem.capacity / np.where(asked, demand, 1.0)[problem.pair_application]
    model.put(served[problem.pair_application], busy, share)
