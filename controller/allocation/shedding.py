"""Overload with few device types: phi by halving, then queries served and accuracy in one decomposition.

With every application held at phi, a bonus for every query served that outweighs all accuracy makes "most served, then
most accurate" a single objective, which the decomposition maximises like any other; a column may then leave demand
out beyond phi. The bound on the sum, less the bonus for what is served, bounds the accuracy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tidewise.controller.allocation import narrow
from tidewise.controller.allocation.assignment import assign
from tidewise.controller.allocation.exact import Work, decompose
from tidewise.controller.allocation.fast import bound_of_level, common_fraction
from tidewise.controller.allocation.fraction import lift_fraction
from tidewise.controller.allocation.goal import Aim, Answer, Goal
from tidewise.controller.allocation.highs import relaxed
from tidewise.controller.allocation.kernel import kernel_of
from tidewise.controller.allocation.lexicographic import SLACK, Candidate, better, rank, shed
from tidewise.controller.allocation.linear import Effort
from tidewise.controller.allocation.problem import Ints, Problem

OUTWEIGHS = 1e4  # all demand served is worth this much accuracy
PROVEN = 1e-10  # relative gap of the sum: 1e-6 of accuracy
ENOUGH = Work(rounds=7, most_nodes=60_000, states=300_000)


def shed_exactly(problem: Problem, known: Ints, effort: Effort) -> Candidate:
    """The lexicographic plan: phi by halving, the levels on the restricted model, then the decomposition."""
    known = lift_fraction(problem, known, common_fraction(problem))
    levels = shed(problem, narrow.maximise, effort, known)
    held = hold_fraction(problem, rank(problem, levels.counts).phi * (1 - SLACK))
    relaxation = relaxed(held, Goal(Aim.ACCURACY, held.least))
    first = replace(levels, assignment=rank(held, levels.counts), bound=relaxation.objective)
    prices = np.maximum(relaxation.duals[: len(held.types)], 0.0)
    found = decompose(held, kernel_of(held), first, prices, PROVEN, ENOUGH)
    counts = better(problem, levels.counts, Answer(found.counts, found.bound))
    assignment = assign(problem, counts)
    result = Candidate(counts, assignment, found.bound - held.bonus * assignment.total, "levels")
    bound = min(result.bound, bound_of_level(problem, result))
    return replace(result, bound=max(bound, assignment.objective))


def hold_fraction(problem: Problem, fraction: float) -> Problem:
    """The problem that serves at least this fraction of every demand, then as much as it can, then accurately."""
    return replace(problem, least=fraction, bonus=OUTWEIGHS / problem.demand.sum())
