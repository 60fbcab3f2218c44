"""The recourse of the scenario plan, four times a second and without a solver: each device's ceiling.

At a price mu on queries a device of type t is best used with argmax_v (A_v + mu) P_tv. At mu = -infinity that is the
most accurate variant, and as mu rises device types step down their hulls one after another. The smallest mu at which
the variants chosen carry the rate marks the step; the ceiling is taken on its more accurate side, because a worker
may always choose a faster warm variant but never a better one than its ceiling.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from tidewise.controller.allocation.hull import Rung


def ceilings(devices: Mapping[str, int], hulls: Mapping[str, tuple[Rung, ...]], rate: float) -> dict[str, str]:
    """The most accurate variant that devices of each type may use for one application.

    ``devices`` holds the application's devices by type, ``hulls`` its hull on each, ``rate`` its queries per second.
    Types without devices or without a useful variant are left out.
    """
    at = {name: len(hulls[name]) - 1 for name, n in devices.items() if n > 0 and hulls.get(name)}
    before = dict(at)
    while (reached := _capacity(devices, hulls, at)) < rate:
        steps = [(_step_price(hulls[name][i - 1], hulls[name][i]), name) for name, i in at.items() if i > 0]
        if not steps:
            break
        before = dict(at)
        at[min(steps)[1]] -= 1
    chosen = before if reached >= rate else at
    return {name: hulls[name][i].variant for name, i in chosen.items()}


def _capacity(devices: Mapping[str, int], hulls: Mapping[str, tuple[Rung, ...]], at: Mapping[str, int]) -> float:
    return sum([devices[name] * hulls[name][i].capacity for name, i in at.items()])


def _step_price(faster: Rung, better: Rung) -> float:
    """The mu at which both are worth the same: (A + mu) P equal."""
    gained = faster.capacity - better.capacity
    if gained <= 0:
        return math.inf
    return (better.accuracy * better.capacity - faster.accuracy * faster.capacity) / gained
