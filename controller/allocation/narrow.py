"""Large problems: the count model restricted to the pairs the relaxation finds worth their devices.

A pair whose reduced cost in the relaxation is high is in no good plan. With the few others the integer program has
some dozens of columns, however many variants there are; its plan is a plan of the whole problem, and the bound of the
whole relaxation certifies it. More pairs are let in until the gap is closed or the work is spent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tidewise.controller.allocation import highs
from tidewise.controller.allocation.goal import Aim, Answer, Goal
from tidewise.controller.allocation.lexicographic import better, rank, worst_accuracy
from tidewise.controller.allocation.linear import Effort
from tidewise.controller.allocation.problem import Ints, Problem, restrict

# Largest reduced cost let in, relative to the bound, and how long HiGHS may work on it (see Effort.checks).
Widths = tuple[tuple[float, int], ...]
WIDTHS: Widths = ((1e-9, 60), (1e-5, 60), (1e-4, 100))
SWAPPING: Widths = ((1e-9, 30), (1e-5, 40), (1e-4, 100))  # under a swap cost a check takes longer
# Under overload the bound of a level is far from its best plan, so that the gap seldom closes: stop sooner.
SHEDDING: Widths = ((1e-9, 40), (1e-5, 60))
Polish = Callable[[Ints], Ints]


def maximise(
    problem: Problem, goal: Goal, effort: Effort, known: Ints, bound: float = np.inf, polish: Polish | None = None
) -> Answer:
    """The best counts of the restricted models, with the bound of the whole problem.

    ``known`` are counts to start from (their pairs are always let in), ``bound`` is another bound on the goal,
    ``polish`` may improve what a model finds.
    """
    relaxation = highs.relaxed(problem, goal)
    if relaxation.x is None:
        return Answer(None, np.inf, infeasible=relaxation.infeasible)
    size = len(problem.capacity)
    bound = min(bound, relaxation.objective)
    always = (relaxation.x[:size] > 1e-9) | (known > 0)
    target = bound - effort.gap * abs(bound)
    best = known
    for width, checks in _widths(problem, goal):
        if _value(problem, goal, best) >= target:
            break
        kept = np.nonzero(always | (relaxation.reduced[:size] <= width * abs(bound)))[0]
        inner = replace(effort, gap=effort.gap / 5, target=target, checks=min(effort.checks, checks))
        answer = highs.maximise(restrict(problem, kept), goal, inner)
        if answer.counts is not None:
            counts = np.zeros(size, np.int64)
            counts[kept] = answer.counts
            found = Answer(counts if polish is None else polish(counts), bound)
            best = better(problem, best, found) if goal.aim is not Aim.WORST else counts
    return Answer(best, bound)


def _widths(problem: Problem, goal: Goal) -> Widths:
    if goal != Goal():
        return SHEDDING
    return SWAPPING if problem.swap_cost > 0 else WIDTHS


def _value(problem: Problem, goal: Goal, counts: Ints) -> float:
    """What the counts reach of the goal, -inf if they do not even serve the fraction it asks."""
    ranked = rank(problem, counts)
    if goal.aim is Aim.FRACTION:
        return ranked.phi
    if goal.aim is Aim.WORST:
        return worst_accuracy(problem, ranked)
    if ranked.phi < goal.fraction * (1 - 1e-6) or ranked.total < goal.served * (1 - 1e-6):
        return -np.inf
    return ranked.objective if goal.aim is Aim.ACCURACY else ranked.total / problem.demand.sum()
