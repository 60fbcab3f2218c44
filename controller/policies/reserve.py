"""Reserve: devices that hold an application's family but are not needed for its rate now get few of its queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tidewise.controller.case_builder import joined
from tidewise.core.case import Case
from tidewise.core.plan import Assignment

EASE = 1.25  # times the rate that the accurate devices must carry before others are spares
SPARE = 0.02  # of its capacity's share, for a device that is not needed


def shared(
    assignments: Sequence[Assignment], case: Case, kind_of: Mapping[str, str], rates: Mapping[str, float]
) -> Iterator[Assignment]:
    """The assignments with shares by capacity; devices that others, at least as accurate, can spare get little.

    So reserve costs no accuracy while nothing is scarce: a router that weighs backlogs by share comes to it late.
    """
    weight: dict[str, float] = {}
    for name in {one.application for one in assignments}:
        mine = [one for one in assignments if one.application == name]
        ceilings_of = {one.worker: joined(name, one.ceiling) for one in mine}
        mine.sort(key=lambda one: -case.variants[ceilings_of[one.worker]].accuracy)
        left, worst = EASE * rates.get(name, 0.0), 1.0
        for one in mine:
            accuracy = case.variants[ceilings_of[one.worker]].accuracy
            spare = left <= 0 and accuracy < worst
            weight[one.worker] = one.capacity * (SPARE if spare else 1.0)
            if not spare:
                worst = accuracy
                left -= case.capacity.get(kind_of.get(one.worker, ""), {}).get(ceilings_of[one.worker], 0.0)
    total: dict[str, float] = defaultdict(float)
    for one in assignments:
        total[one.application] += weight[one.worker]
    for one in assignments:
        yield replace(one, share=weight[one.worker] / total[one.application]) if total[one.application] else one
