"""Local search by single devices: give an idle device work, or let a device host another variant.

A move takes one device of type t from pair i (or from the idle ones) to pair j of the same type. Applications do not
interact but through devices, so the gain of a move between two applications is the sum of two separate changes.
"""

from __future__ import annotations

import numpy as np

from tidewise.controller.allocation.problem import Floats, Ints, Problem

SHORT = 100.0  # what a query short costs, in accuracy: serving comes before accuracy
LEAST_GAIN = 1e-9


def improve(problem: Problem, counts: Ints, most_moves: int) -> Ints:
    """Apply the best move again and again, at most ``most_moves`` times."""
    counts = counts.copy()
    idle = problem.devices - np.bincount(problem.pair_type, counts, minlength=len(problem.types)).astype(np.int64)
    for _ in range(most_moves):
        move = _best_move(problem, counts, idle)
        if move is None:
            break
        source, target = move
        if source is None:
            idle[problem.pair_type[target]] -= 1
        else:
            counts[source] -= 1
        counts[target] += 1
    return counts


def _best_move(problem: Problem, counts: Ints, idle: Ints) -> tuple[int | None, int] | None:
    gain = np.array([_change(problem, counts, {k: 1}) for k in range(len(counts))])
    loss = np.array([_change(problem, counts, {k: -1}) if counts[k] else -np.inf for k in range(len(counts))])
    best = LEAST_GAIN
    chosen: tuple[int | None, int] | None = None
    for target in range(len(counts)):
        t, a = problem.pair_type[target], problem.pair_application[target]
        if idle[t] > 0 and gain[target] > best:
            best, chosen = gain[target], (None, target)
        for source in np.nonzero((problem.pair_type == t) & (counts > 0))[0]:
            if source == target:
                continue
            if problem.pair_application[source] == a:
                value = _change(problem, counts, {int(source): -1, target: 1})
            else:
                value = gain[target] + loss[source]
            if value > best:
                best, chosen = value, (int(source), target)
    return chosen


def _change(problem: Problem, counts: Ints, change: dict[int, int]) -> float:
    """How the value of one application changes when these counts of its pairs change."""
    a = int(problem.pair_application[next(iter(change))])
    pairs = problem.pairs(a)
    after = counts[pairs].copy()
    for k, by in change.items():
        after[k - pairs.start] += by
    return _value(problem, a, after) - _value(problem, a, counts[pairs])


def _value(problem: Problem, a: int, counts: Ints) -> float:
    """The value of one application's counts, in accuracy-weighted queries per second; shortage is charged."""
    pairs = problem.pairs(a)
    room: Floats = counts * problem.capacity[pairs]
    before = np.cumsum(room) - room
    rate = np.minimum(room, np.maximum(problem.demand[a] - before, 0.0))
    short = problem.demand[a] - rate.sum()
    swaps = problem.swap_cost * problem.scale * np.maximum(counts - problem.current[pairs], 0).sum()
    return float(problem.weight[a] * (problem.accuracy[pairs] @ rate) - SHORT * short - swaps)
