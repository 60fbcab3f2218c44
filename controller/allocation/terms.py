"""Policy terms that change the problem before it is solved: max-min fairness and headroom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tidewise.controller.allocation import highs, narrow
from tidewise.controller.allocation.assignment import assign
from tidewise.controller.allocation.feasible import find_plan
from tidewise.controller.allocation.goal import Aim, Goal
from tidewise.controller.allocation.lexicographic import worst_accuracy
from tidewise.controller.allocation.linear import Effort
from tidewise.controller.allocation.problem import Problem, Terms, build
from tidewise.core.case import Case

FEW_PAIRS = 300  # a whole count model of this many pairs is solved as it is
HALVINGS = 6  # headroom is found to 1/64 of what is asked


def lift_worst(problem: Problem, effort: Effort) -> Problem:
    """The problem with floors that hold the best possible worst accuracy; the same problem if it is overloaded.

    The worst accuracy is relative to each application's best variant, so that a family whose best variant is poor
    does not stand for unfairness.
    """
    known = find_plan(problem)
    if known is None or not problem.servable.any():
        return problem
    maximise = highs.maximise if len(problem.capacity) <= FEW_PAIRS else narrow.maximise
    answer = maximise(problem, Goal(Aim.WORST), effort, known)
    counts = known if answer.counts is None else answer.counts
    worst = max(worst_accuracy(problem, assign(problem, counts)), worst_accuracy(problem, assign(problem, known)))
    floor = np.where(problem.servable, worst * (1 - 1e-6) * problem.best, 0.0)
    return replace(problem, floor=np.maximum(problem.floor, floor))


def afford_headroom(case: Case, terms: Terms) -> Case:
    """The case with as much of each application's headroom in its demand as the cluster can serve, at least none.

    All headrooms shrink alike, by halving, until a plan is found. Nothing is shed for the sake of headroom.
    """
    if all(one.headroom == 1.0 or one.demand == 0 for one in case.applications.values()):
        return case
    if _serves(inflated(case, 1.0), terms):
        return inflated(case, 1.0)
    return inflated(case, _largest(lambda share: _serves(inflated(case, share), terms)))


def inflated(case: Case, share: float) -> Case:
    """The case with this share of every headroom added to demand."""
    return case.with_demand(
        {name: one.demand * (1 + share * (one.headroom - 1)) for name, one in case.applications.items()}
    )


def _serves(case: Case, terms: Terms) -> bool:
    problem = build(case, terms)
    return not problem.servable.any() or find_plan(problem) is not None


def _largest(works: Callable[[float], bool]) -> float:
    """The largest share in [0, 1) found to work by halving; 0 needs no proof."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if works(middle) else (low, middle)
    return low
