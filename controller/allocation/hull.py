"""Which variants of an application are worth time on a device type.

A device that time-shares two variants reaches every point between them in the plane of (time per query, accuracy).
Only the variants on the upper concave hull of that plane are of use; the others are beaten by a mixture.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rung:
    """One variant on one device type: queries per second of a device, and accuracy."""

    variant: str
    capacity: float
    accuracy: float


def hull(rungs: Iterable[Rung]) -> tuple[Rung, ...]:
    """The useful variants, from the fastest to the most accurate."""
    kept: list[Rung] = []
    for rung in sorted((r for r in rungs if r.capacity > 0), key=lambda r: (-r.capacity, -r.accuracy, r.variant)):
        if kept and rung.accuracy <= kept[-1].accuracy:
            continue
        while len(kept) > 1 and not _bends_down(kept[-2], kept[-1], rung):
            kept.pop()
        kept.append(rung)
    return tuple(kept)


def _bends_down(one: Rung, two: Rung, three: Rung) -> bool:
    """Whether accuracy per time gained falls from the step one-two to the step two-three."""
    first = (two.accuracy - one.accuracy) * (1 / three.capacity - 1 / two.capacity)
    second = (three.accuracy - two.accuracy) * (1 / two.capacity - 1 / one.capacity)
    return first > second
