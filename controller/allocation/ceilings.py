"""The recourse without a solver: which variant each kind of device should aim for while an application's rate lasts.

With a price mu on answers, a device does best with the variant of its hull that maximises (A_v + mu) P_tv. The
smallest price at which the application's devices together carry its rate is found by bisection.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from tidewise.controller.allocation.hull import Rung

DEAREST = 20.0  # accuracy one answer may cost: at this price every device runs its fastest variant
STEPS = 22

_Class = TypeVar("_Class", bound=Hashable)


def ceilings(
    ladders: Mapping[_Class, Sequence[Rung]], devices: Mapping[_Class, int], rate: float
) -> dict[_Class, Rung]:
    """By class of alike devices, the variant to aim for.

    It is taken on the more accurate side of the price, since devices go below it by themselves.

    ``ladders`` are hulls, fastest first; ``devices`` how many of each class hold the family.
    """
    here = {kind: ladders[kind] for kind, count in devices.items() if count > 0 and ladders.get(kind)}
    best = {kind: ladder[-1] for kind, ladder in here.items()}
    if not here or _carried(best, devices) >= rate:
        return best
    if _carried(_picked(here, DEAREST), devices) < rate:
        return _picked(here, DEAREST)
    low, high = -1.0, DEAREST
    for _ in range(STEPS):
        middle = (low + high) / 2
        if _carried(_picked(here, middle), devices) >= rate:
            high = middle
        else:
            low = middle
    return _picked(here, low)


def _picked(ladders: Mapping[_Class, Sequence[Rung]], price: float) -> dict[_Class, Rung]:
    return {
        kind: max(ladder, key=lambda rung: ((rung.accuracy + price) * rung.rate, rung.accuracy))
        for kind, ladder in ladders.items()
    }


def _carried(chosen: Mapping[_Class, Rung], devices: Mapping[_Class, int]) -> float:
    return sum(devices[kind] * rung.rate for kind, rung in chosen.items())
