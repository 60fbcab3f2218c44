"""Which method suits which problem. Every one starts from the fast plan and can only improve it.

fast     relaxation, rounding, local search: milliseconds at any size
exact    decomposition by application; proves optimality with few device types
narrow   integer program over the pairs the relaxation likes; many device types, thousands of devices
highs    the whole count model: proofs of infeasibility, and whatever the others leave open on small problems
pulp     the same in PuLP, for comparison
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tidewise.controller.allocation import exact, highs, narrow, reference
from tidewise.controller.allocation.assignment import assign
from tidewise.controller.allocation.fast import Relaxation, fast_plan, relax
from tidewise.controller.allocation.goal import Goal
from tidewise.controller.allocation.kernel import Kernel, improve, kernel_of, native
from tidewise.controller.allocation.lexicographic import Candidate, Maximise, better, rank, shed
from tidewise.controller.allocation.linear import Effort
from tidewise.controller.allocation.problem import Ints, Problem
from tidewise.controller.allocation.shedding import bounded, shed_frugally

METHODS = ("auto", "exact", "highs", "pulp", "fast")
MIPS: dict[str, Maximise] = {"highs": highs.maximise, "pulp": reference.maximise}
MANY_DEVICES = 20_000  # beyond, rounding loses so little that an overloaded cluster keeps the fast plan
TWIN_PAIRS = 16  # the Python twin searches everything: beyond this many pairs it takes too long
POLISH = 100  # local moves after an integer program
FEW_PAIRS = 300  # a whole count model of this many pairs is worth trying
QUICK_PRICING = 1_500  # search nodes per application where one pricing has to do


@dataclass(frozen=True, slots=True, eq=False)
class _Start:
    """What every method builds upon."""

    problem: Problem
    kernel: Kernel
    relaxation: Relaxation
    fast: Candidate


def best_plan(problem: Problem, method: str, effort: Effort) -> Candidate:
    """The best plan the method finds; ``auto`` chooses by size."""
    if not len(problem.capacity):
        empty = np.zeros(0, np.int64)
        return Candidate(empty, assign(problem, empty), 0.0, "none")
    kernel = kernel_of(problem)
    relaxation = relax(problem, problem.demand)
    start = _Start(problem, kernel, relaxation, fast_plan(problem, kernel, relaxation))
    if method == "fast" or _closed(start.fast, effort):
        return start.fast
    if method in MIPS:
        return _whole(start, MIPS[method], effort, method)
    return _auto(start, effort, method)


def _auto(start: _Start, effort: Effort, method: str) -> Candidate:
    """Decompose if that suits, then narrow, then the whole model; shed if the demand cannot be served."""
    small = len(start.problem.capacity) <= FEW_PAIRS
    if start.relaxation.short > 1e-9:
        return _shed(start, effort, small)
    candidate = start.fast
    if _decomposes(start, method):
        candidate = exact.decompose(start.problem, start.kernel, candidate, start.relaxation.prices, effort.gap)
    elif exact.suits(start.problem, start.kernel) and native() is not None:
        priced = start.kernel.price(start.relaxation.prices.tolist(), QUICK_PRICING)
        candidate = replace(candidate, bound=min(candidate.bound, priced.bound))
    if not _closed(candidate, effort):
        candidate = _narrow(start, candidate, effort)
    if not _closed(candidate, effort) and small:
        candidate = _whole(replace(start, fast=candidate), highs.maximise, effort, "highs")
    return candidate if _serves(candidate) else _shed(replace(start, fast=candidate), effort, small)


def _decomposes(start: _Start, method: str) -> bool:
    """Whether to list columns: few device types unless asked for by name, and in Python only small problems."""
    few = len(start.problem.types) <= exact.FEW_TYPES or method == "exact"
    quick = native() is not None or len(start.problem.capacity) <= TWIN_PAIRS
    return exact.suits(start.problem, start.kernel) and few and quick


def _narrow(start: _Start, candidate: Candidate, effort: Effort) -> Candidate:
    answer = narrow.maximise(
        start.problem, Goal(), effort, candidate.counts, candidate.bound, lambda counts: _polish(start, counts)
    )
    counts = better(start.problem, candidate.counts, answer)
    return Candidate(counts, rank(start.problem, counts), min(candidate.bound, answer.bound), "narrow")


def _polish(start: _Start, counts: Ints) -> Ints:
    polished: Ints = improve(start.problem, start.kernel, counts.tolist(), 1.0, POLISH)
    return polished


def _whole(start: _Start, maximise: Maximise, effort: Effort, method: str) -> Candidate:
    """The whole count model for one goal, by levels if it proves that demand cannot be served."""
    known = start.fast
    answer = maximise(start.problem, Goal(), effort, known.counts)
    counts = better(start.problem, known.counts, answer)
    ranked = rank(start.problem, counts)
    if ranked.phi >= 1.0:
        return Candidate(counts, ranked, min(answer.bound, known.bound), method)
    return shed(start.problem, maximise, effort, counts)


def _shed(start: _Start, effort: Effort, small: bool) -> Candidate:
    problem, known = start.problem, start.fast.counts
    if problem.devices.sum() > MANY_DEVICES:
        return bounded(problem, start.fast)
    if not problem.floor.any():
        return shed_frugally(problem, known, effort)
    return shed(problem, highs.maximise if small else narrow.maximise, effort, known)


def _serves(candidate: Candidate) -> bool:
    return candidate.assignment.phi >= 1.0


def _closed(candidate: Candidate, effort: Effort) -> bool:
    """Whether all demand is served and the gap is small enough."""
    missing = candidate.bound - candidate.assignment.objective
    return (
        _serves(candidate) and not candidate.assignment.missing and missing <= effort.gap * abs(candidate.bound) + 1e-12
    )
