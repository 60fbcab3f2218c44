"""Reserve: devices that hold an application's family but are not needed for its rate now get few of its queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

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
    hosts: dict[str, list[tuple[float, Assignment, str]]] = defaultdict(list)  # accuracy, whose, of which ceiling
    for one in assignments:
        ceiling = joined(one.application, one.ceiling)
        hosts[one.application].append((case.variants[ceiling].accuracy, one, ceiling))
    for name, mine in hosts.items():
        mine.sort(key=itemgetter(0), reverse=True)
        left, worst = EASE * rates.get(name, 0.0), 1.0
        for accuracy, one, ceiling in mine:
            spare = left <= 0 and accuracy < worst
            weight[one.worker] = one.capacity * (SPARE if spare else 1.0)
            if not spare:
                worst = accuracy
                left -= case.capacity.get(kind_of.get(one.worker, ""), {}).get(ceiling, 0.0)
    total: dict[str, float] = defaultdict(float)
    for one in assignments:
        total[one.application] += weight[one.worker]
    for one in assignments:
        share = weight[one.worker] / total[one.application] if total[one.application] else one.share
        yield one if share == one.share else replace(one, share=share)
