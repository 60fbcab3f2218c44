"""phi by halving: the largest common fraction of demand for which the decomposition finds a plan.

Every fraction tried is a problem of its own with all demand scaled, which the decomposition solves in milliseconds
with few device types. What it finds is a plan; that it finds none is no proof.
"""

from __future__ import annotations

import numpy as np

from tidewise.controller.allocation.exact import FEW_TYPES, Work, decompose, suits
from tidewise.controller.allocation.fast import fast_plan, relax
from tidewise.controller.allocation.kernel import kernel_of, native
from tidewise.controller.allocation.lexicographic import rank
from tidewise.controller.allocation.problem import Ints, Problem

CLOSE = 1e-3  # fractions this close are not told apart
ENOUGH = Work(rounds=7, most_columns=800, most_nodes=40_000, beams=(1_000, 8_000), states=200_000)


def lift_fraction(problem: Problem, known: Ints, most: float) -> Ints:
    """Counts with the highest phi found, at least that of the known ones; ``most`` bounds phi from above."""
    best, low, high = known, rank(problem, known).phi, most
    while high - low > CLOSE:
        middle = (low + high) / 2
        counts = find_plan(problem.with_demand(problem.demand * middle))
        reached = -1.0 if counts is None else rank(problem, counts).phi
        if counts is not None and reached > low:
            best, low = counts, reached
        else:
            high = middle
    return best


def find_plan(problem: Problem) -> Ints | None:
    """Counts that serve all demand of the problem, if some are found quickly."""
    relaxation = relax(problem, problem.demand)
    if relaxation.short > 1e-9:
        return None
    kernel = kernel_of(problem)
    first = fast_plan(problem, kernel, relaxation)
    if (
        first.assignment.phi < 1.0
        and native() is not None
        and suits(problem, kernel)
        and len(problem.types) <= FEW_TYPES
    ):
        first = decompose(problem, kernel, first, relaxation.prices, np.inf, ENOUGH)
    return first.counts if first.assignment.phi >= 1.0 else None
