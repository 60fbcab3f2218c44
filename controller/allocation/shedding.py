"""The plan of an overloaded cluster, level by level, each with a bound of its own.

How much can be served does not depend on accuracy: whatever a plan serves, the fastest variant of each application on
each type serves as well. So phi and the queries served are found, and bounded, in a model with one pair for each
application and type, some dozens of whole numbers, which HiGHS closes in tenths of a second where the whole model takes
minutes. Only accuracy, the last level, needs all pairs. (An accuracy floor couples what is served to how: then all
levels do.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tidewise.controller.allocation import highs, narrow
from tidewise.controller.allocation.assignment import LEVEL, assign
from tidewise.controller.allocation.fast import bound_of_level, common_fraction
from tidewise.controller.allocation.goal import Aim, Answer, Goal
from tidewise.controller.allocation.lexicographic import SLACK, Candidate, better, common_phi
from tidewise.controller.allocation.linear import Effort
from tidewise.controller.allocation.problem import Ints, Problem, restrict

FINER = 10  # the first two levels are closed to this part of the gap asked for: what they leave open costs the last
# How long HiGHS may work on a level (see Effort.checks): a check takes longer the more pairs there are.
CAPACITY_WORK = 40_000  # checks times pairs
ACCURACY_WORK = 65_000_000  # checks times pairs squared
LARGE, LARGER = 2_000, 4  # beyond so many devices whole numbers matter less, and a fourth of the work will do
FEWEST = 5  # checks; with fewer the whole model does not get past its relaxation


def shed_frugally(problem: Problem, known: Ints, effort: Effort) -> Candidate:
    """The lexicographic plan, at least as good as the known counts; the problem has no accuracy floors."""
    quick = fastest_pairs(problem)
    checks = CAPACITY_WORK // len(quick) // (LARGER if problem.devices.sum() > LARGE else 1)
    inner = replace(effort, gap=effort.gap / FINER, checks=min(effort.checks, checks))

    frugal = restrict(problem, quick)

    def capacity(goal: Goal, best: Ints) -> tuple[Ints, float]:
        answer = highs.maximise(frugal, goal, inner)
        bound = min(answer.bound_if_reached(), highs.relaxed_bound(frugal, goal))
        return better(problem, best, _widened(problem, quick, answer)), bound

    best, phi_bound = capacity(Goal(Aim.FRACTION), known)
    phi = common_phi(problem, best)
    best, served_bound = capacity(Goal(Aim.SERVED, phi * (1 - SLACK)), best)
    served = assign(problem, best).total
    best, bound = _most_accurate(problem, Goal(Aim.ACCURACY, phi * (1 - SLACK), served * (1 - SLACK)), best, effort)
    assignment = assign(problem, best)
    return Candidate(
        best,
        assignment,
        max(bound, assignment.objective),
        "levels",
        phi_bound=max(phi_bound, phi),
        total_bound=max(served_bound * float(problem.demand.sum()), assignment.total),
    )


def fastest_pairs(problem: Problem) -> Ints:
    """The fastest pair of every application on every type, ascending."""
    family = problem.pair_application * len(problem.types) + problem.pair_type
    order = np.lexsort((np.arange(len(family)), -problem.capacity, family))
    _, first = np.unique(family[order], return_index=True)
    pairs: Ints = np.sort(order[first])
    return pairs


def _most_accurate(problem: Problem, goal: Goal, best: Ints, effort: Effort) -> tuple[Ints, float]:
    """The last level: a plan from the pairs the relaxation likes, then the bound of the whole model."""
    first = narrow.maximise(problem, goal, effort, best)
    best = better(problem, best, first)
    checks = min(effort.checks, ACCURACY_WORK // len(problem.capacity) ** 2)
    if assign(problem, best).objective >= first.bound * (1 - effort.gap) or checks < FEWEST:
        return best, min(first.bound_if_reached(), highs.relaxed_bound(problem, goal))
    whole = replace(effort, checks=checks)
    answer = highs.maximise(problem, goal, whole)
    best = better(problem, best, answer)
    # Plans that serve a hair less than the goal count as equal; the relaxation bounds them too.
    hair = replace(goal, fraction=goal.fraction * (1 - LEVEL), served=goal.served * (1 - LEVEL))
    return best, min(answer.bound_if_reached(), highs.relaxed_bound(problem, hair))


def _widened(problem: Problem, kept: Ints, answer: Answer) -> Answer:
    """The answer of a restricted problem in pairs of the whole one."""
    if answer.counts is None:
        return answer
    counts = np.zeros(len(problem.capacity), np.int64)
    counts[kept] = answer.counts
    return replace(answer, counts=counts)


def bounded(problem: Problem, candidate: Candidate) -> Candidate:
    """A candidate that no level was solved for, with the bounds of the relaxation."""
    phi = common_phi(problem, candidate.counts)
    served = highs.relaxed_bound(problem, Goal(Aim.SERVED, phi * (1 - SLACK)))
    return replace(
        candidate,
        bound=min(candidate.bound, bound_of_level(problem, candidate)),
        phi_bound=max(common_fraction(problem), phi),
        total_bound=max(served * float(problem.demand.sum()), candidate.assignment.total),
    )
