"""The variants worth running: the upper concave hull of accuracy over device time per query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LEAST_GAIN = 1e-12


@dataclass(frozen=True, slots=True)
class Rung:
    """One variant on one kind of device: queries per second, and accuracy."""

    variant: str
    rate: float
    accuracy: float


def hull(rates: Mapping[str, float], accuracy: Mapping[str, float]) -> tuple[Rung, ...]:
    """The undominated variants, fastest first.

    A device may share its time between variants, so what lies below the line between two others is never needed.
    """
    rungs = [Rung(name, rate, accuracy[name]) for name, rate in rates.items() if rate > 0]
    found: list[Rung] = []
    for one in sorted(rungs, key=lambda rung: (-rung.rate, -rung.accuracy, rung.variant)):
        if found and one.accuracy <= found[-1].accuracy + LEAST_GAIN:
            continue
        while len(found) > 1 and _below(found[-2], found[-1], one):
            found.pop()
        found.append(one)
    return tuple(found)


def _below(first: Rung, middle: Rung, last: Rung) -> bool:
    """Whether ``middle`` lies on or below the line from ``first`` to ``last`` over seconds per query."""
    rise, run = middle.accuracy - first.accuracy, 1 / middle.rate - 1 / first.rate
    return rise * (1 / last.rate - 1 / first.rate) <= (last.accuracy - first.accuracy) * run
