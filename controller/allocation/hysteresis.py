"""Noise in the demand estimate must not reshuffle the cluster: a new plan has to be worth its trouble."""

from __future__ import annotations

from tidewise.controller.allocation.lexicographic import Candidate, fits, rank
from tidewise.controller.allocation.problem import Terms, build
from tidewise.controller.allocation.solve import solution_of
from tidewise.core.case import Case
from tidewise.core.solution import Solution

LEAST_GAIN = 1e-3  # of the objective


def settle(case: Case, fresh: Solution, terms: Terms | None = None, least_gain: float = LEAST_GAIN) -> Solution:
    """The counts hosted now if they serve as much and a fresh plan gains less than ``least_gain``, else the fresh one.

    The bound of the result is the fresh plan's, so that its gap says what keeping the old counts costs.
    """
    problem = build(case.with_demand(fresh.planned), terms, residents=True)
    counts = problem.current
    if not case.current or not fits(problem, counts):
        return fresh
    kept = rank(problem, counts)
    if kept.phi < fresh.phi - 1e-9 or kept.total < sum(fresh.served.values()) * (1 - 1e-9) or kept.missing:
        return fresh
    if fresh.objective - kept.objective > least_gain:
        return fresh
    return solution_of(problem, Candidate(counts, kept, fresh.bound, "kept"))
