"""Whether some counts serve all demand, found quickly if so; that none are found is no proof."""

from __future__ import annotations

from tidewise.controller.allocation import highs
from tidewise.controller.allocation.exact import FEW_TYPES, Work, decompose, suits
from tidewise.controller.allocation.fast import fast_plan, relax
from tidewise.controller.allocation.goal import Goal
from tidewise.controller.allocation.kernel import kernel_of, native
from tidewise.controller.allocation.lexicographic import rank
from tidewise.controller.allocation.linear import Effort
from tidewise.controller.allocation.problem import Ints, Problem

ENOUGH = Work(rounds=7, most_columns=800, most_nodes=40_000, beams=(1_000, 8_000), states=200_000)
FEW_PAIRS = 100  # an integer program of this many pairs is worth asking where nothing else found a plan
ANY_PLAN = Effort(gap=1.0, checks=100, target=-1e9)


def find_plan(problem: Problem) -> Ints | None:
    """Counts that serve all demand of the problem, if some are found quickly."""
    relaxation = relax(problem, problem.demand)
    if relaxation.short > 1e-9:
        return None
    kernel = kernel_of(problem)
    first = fast_plan(problem, kernel, relaxation)
    few_types = len(problem.types) <= FEW_TYPES
    if first.assignment.phi < 1.0 and native() is not None and suits(problem, kernel) and few_types:
        first = decompose(problem, kernel, first, relaxation.prices, float("inf"), ENOUGH)
    if first.assignment.phi >= 1.0:
        return first.counts
    return _any_plan(problem) if len(problem.capacity) <= FEW_PAIRS else None


def _any_plan(problem: Problem) -> Ints | None:
    counts = highs.maximise(problem, Goal(), ANY_PLAN).counts
    return counts if counts is not None and rank(problem, counts).phi >= 1.0 else None
