"""The plan of an overloaded cluster, level by level: phi, then queries served, then accuracy.

No penalty terms: a penalty on unserved demand starves whole applications. Each level is one solve with the levels
above it held. Applications no device can serve are set aside, so that they do not drag the others' phi to 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tidewise.controller.allocation.assignment import Assignment, assign
from tidewise.controller.allocation.goal import Aim, Answer, Goal
from tidewise.controller.allocation.highs import relaxed_bound
from tidewise.controller.allocation.linear import Effort
from tidewise.controller.allocation.problem import Ints, Problem

Maximise = Callable[[Problem, Goal, Effort, Ints], Answer]
SLACK = 1e-7  # what a level may give back of the level above, relative; solvers are no more exact


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Counts, what they serve, and an upper bound on the objective at their lexicographic level.

    ``phi_bound`` bounds phi over the applications that can be served; ``total_bound`` the queries per second served by
    any plan with the candidate's phi. They say nothing unless the cluster is overloaded.
    """

    counts: Ints
    assignment: Assignment
    bound: float
    method: str
    phi_bound: float = 1.0
    total_bound: float = np.inf


def shed(problem: Problem, maximise: Maximise, effort: Effort, first: Ints) -> Candidate:
    """The lexicographic plan of a problem whose demand cannot be served; ``first`` are counts known before.

    ``maximise`` is given the best counts so far as its last argument.
    """
    most = maximise(problem, Goal(Aim.FRACTION), effort, first)
    best = better(problem, first, most)
    fraction = common_phi(problem, best) * (1 - SLACK)  # less a hair for the solver's tolerance
    fullest = maximise(problem, Goal(Aim.SERVED, fraction), effort, best)
    best = better(problem, best, fullest)
    served = assign(problem, best).total
    goal = Goal(Aim.ACCURACY, fraction, served * (1 - SLACK))
    last = maximise(problem, goal, effort, best)
    counts = better(problem, best, last)
    assignment = assign(problem, counts)
    bound = last.bound_if_reached()
    bound = bound if np.isfinite(bound) else relaxed_bound(problem, goal)
    return Candidate(
        counts,
        assignment,
        max(bound, assignment.objective),
        "levels",
        phi_bound=max(min(1.0, most.bound_if_reached()), common_phi(problem, counts)),
        total_bound=max(fullest.bound_if_reached() * float(problem.demand.sum()), assignment.total),
    )


def common_phi(problem: Problem, counts: Ints) -> float:
    """phi among the applications that can be served."""
    return rank(problem, counts).phi


def better(problem: Problem, best: Ints, answer: Answer) -> Ints:
    """The answer's counts unless they are lexicographically behind what is known."""
    if answer.counts is None or not fits(problem, answer.counts):
        return best
    if rank(problem, answer.counts).better_than(rank(problem, best)):
        return answer.counts
    return best


def rank(problem: Problem, counts: Ints) -> Assignment:
    """The assignment of counts with phi taken over servable applications only, for comparing plans."""
    assignment = assign(problem, counts)
    fractions = assignment.served[problem.servable] / problem.demand[problem.servable]
    return replace(assignment, phi=float(fractions.min(initial=1.0)))


def score(problem: Problem, assignment: Assignment) -> float:
    """The objective with the bonus for queries served; what the decomposition maximises."""
    return assignment.objective + problem.bonus * assignment.total


def worst_accuracy(problem: Problem, assignment: Assignment) -> float:
    """The lowest mean accuracy of a servable application over its demand, relative to its best variant."""
    earned = np.bincount(problem.pair_application, problem.accuracy * assignment.rate, minlength=len(problem.best))
    relative = earned[problem.servable] / (problem.demand * problem.best)[problem.servable]
    return float(relative.min(initial=1.0))


def fits(problem: Problem, counts: Ints) -> bool:
    """Whether the counts are whole, not negative and within the devices there are."""
    used = np.bincount(problem.pair_type, counts, minlength=len(problem.types))
    return bool((counts >= 0).all() and (used <= problem.devices).all())
