"""What one solve maximises: the levels of the lexicographic plan, the same for every solver."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from tidewise.controller.allocation.problem import Ints


class Aim(StrEnum):
    """The quantity a solve maximises."""

    ACCURACY = "accuracy"  # the objective: weighted accuracy over demand, less the swap cost
    FRACTION = "fraction"  # phi: the fraction of its demand every application is served at least
    SERVED = "served"  # queries per second served
    WORST = "worst"  # the lowest mean accuracy of an application, relative to its best variant


@dataclass(frozen=True, slots=True)
class Goal:
    """Maximise ``aim`` with every servable application served at least ``fraction`` of its demand, and at least
    ``served`` queries per second in all.
    """

    aim: Aim = Aim.ACCURACY
    fraction: float = 1.0
    served: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a solver found for a goal: counts (K) or None, and an upper bound on the goal's value.

    ``infeasible`` only if it is proven that no counts reach the goal's fraction.
    """

    counts: Ints | None
    bound: float
    infeasible: bool = False

    def bound_if_reached(self) -> float:
        """The bound where the goal is known to be within reach: a solver that finds it infeasible says nothing."""
        return np.inf if self.infeasible else self.bound
