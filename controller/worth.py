"""What given counts are worth: how they serve a demand at best. Trusts no solver; also the source of all shares."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tidewise.controller.case_builder import Counts
from tidewise.core.case import Case

ALIKE = 1e-9  # accuracies this close are one pool
CARRIED = 1e-6  # a fraction this close to 1 is all of it

Group = tuple[str, str]  # (kind, variant)
Rooms = Mapping[Group, float]  # queries per second a group of devices can be trusted with


@dataclass(frozen=True, slots=True)
class Worth:
    """``rates`` in queries per second by group; ``served`` and ``objective`` are fractions as in a solution."""

    rates: Mapping[Group, float]
    served: Mapping[str, float]
    objective: float

    @property
    def phi(self) -> float:
        """The fraction of its demand that every application is served at least."""
        return min(self.served.values(), default=1.0)


def worth(case: Case, counts: Counts, demand: Mapping[str, float]) -> Worth:
    """Serve the demand with these counts: the most accurate devices first, equally accurate ones alike.

    With counts fixed nothing couples the applications, and this is the best each can do. An application stops where
    one more query would take its mean accuracy below its floor.
    """
    rooms = rooms_by_application(case, counts)
    rates: dict[Group, float] = {}
    served, value, total = {}, 0.0, 0.0
    for name, application in case.applications.items():
        wanted = demand.get(name, 0.0)
        if wanted <= 0:
            continue
        here = _fill(case, rooms[name], wanted, application.min_accuracy)
        rates.update(here)
        fraction = math.fsum(here.values()) / wanted
        served[name] = 1.0 if fraction > 1 - CARRIED else fraction
        value += application.weight * math.fsum(case.variants[v].accuracy * rate for (_, v), rate in here.items())
        total += application.weight * wanted
    return Worth(rates, served, value / total if total > 0 else 0.0)


def worst_accuracy(case: Case, value: Worth, demand: Mapping[str, float]) -> float:
    """The lowest mean accuracy of an application over its demand, relative to its best variant; 1 without demand."""
    earned: dict[str, float] = defaultdict(float)
    best: dict[str, float] = defaultdict(float)
    for (_, variant), rate in value.rates.items():
        earned[case.variants[variant].application] += case.variants[variant].accuracy * rate
    for one in case.variants.values():
        best[one.application] = max(best[one.application], one.accuracy)
    asked = [name for name in value.served if best[name] > 0]
    return min((earned[name] / (demand[name] * best[name]) for name in asked), default=1.0)


def rooms_by_application(case: Case, counts: Counts) -> dict[str, dict[Group, float]]:
    """For every application the groups that can serve it, and how much."""
    found: dict[str, dict[Group, float]] = defaultdict(dict)
    for kind, row in counts.items():
        for variant, n in row.items():
            space = n * case.capacity.get(kind, {}).get(variant, 0.0)
            if space > 0:
                found[case.variants[variant].application][kind, variant] = space
    return found


def pools(case: Case, groups: Iterable[Group]) -> list[list[Group]]:
    """The groups, most accurate first, equally accurate ones together."""
    found: list[list[Group]] = []
    for group in sorted(groups, key=lambda one: (-case.variants[one[1]].accuracy, one)):
        accuracy = case.variants[group[1]].accuracy
        if found and abs(case.variants[found[-1][0][1]].accuracy - accuracy) <= ALIKE:
            found[-1].append(group)
        else:
            found.append([group])
    return found


def _fill(case: Case, rooms: Rooms, wanted: float, floor: float) -> dict[Group, float]:
    rates: dict[Group, float] = {}
    surplus = 0.0  # accuracy above the floor, times queries, gathered so far
    for pool in pools(case, rooms):
        space = math.fsum(rooms[one] for one in pool)
        above = case.variants[pool[0][1]].accuracy - floor
        take = min(space, wanted, math.inf if above >= 0 else surplus / -above)
        if take <= 0:
            break
        rates.update({one: take * rooms[one] / space for one in pool})
        surplus += above * take
        wanted -= take
    return rates
