"""The pairs a linear relaxation can do with: of each application on each type, the upper concave hull.

A device of pair k serves capacity_k and earns capacity_k times its accuracy. Devices may be split in a relaxation, so a
pair below the chord between two others (or between one and an idle device) is beaten by a mixture of them.
"""

from __future__ import annotations

import numpy as np

from tidewise.controller.allocation.problem import Ints, Problem


def envelope(problem: Problem) -> Ints:
    """The pairs on the hull of their family, ascending."""
    family = problem.pair_application * len(problem.types) + problem.pair_type
    kept: Ints = np.lexsort((problem.capacity, family))
    while True:
        below = _below_chord(problem, family, kept)
        if not below.any():
            return np.sort(kept)
        kept = kept[~below]


def _below_chord(problem: Problem, family: Ints, order: Ints) -> np.ndarray:
    """Which pairs lie on or below the chord between their neighbours in the order; never a corner of the hull."""
    served, groups = problem.capacity[order], family[order]
    earned = served * problem.accuracy[order]
    first = np.r_[True, groups[1:] != groups[:-1]]
    last = np.r_[groups[1:] != groups[:-1], True]
    before_served = np.where(first, 0.0, np.r_[0.0, served[:-1]])
    before_earned = np.where(first, 0.0, np.r_[0.0, earned[:-1]])
    run, rise = served - before_served, earned - before_earned
    next_run = np.r_[served[1:], 0.0] - before_served
    next_rise = np.r_[earned[1:], 0.0] - before_earned
    below: np.ndarray = ~last & (rise * next_run <= next_rise * run * (1 + 1e-12))
    return below
