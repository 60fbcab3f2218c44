"""Shares: which fraction of an application's queries each group of devices gets."""

from __future__ import annotations

import math
from collections.abc import Mapping

from tidewise.controller.case_builder import Counts
from tidewise.controller.worth import Group, pools, rooms_by_application, worth
from tidewise.core.case import Case

SPARE = 0.01  # share of capacity at which devices beyond the demand are offered queries: they relieve queues only


def shares(case: Case, counts: Counts, demand: Mapping[str, float]) -> dict[Group, float]:
    """Fractions by group; over an application's groups they sum to 1. Devices inside a group share alike.

    Groups get queries in proportion to the capacity used when the most accurate serve first. Without demand the most
    accurate serve all. A group with nothing to do is a spare: it gets a hundredth of its capacity's part, enough for
    a router that weighs backlog by share to use it when the others' queues are long.
    """
    used = worth(case, counts, demand).rates
    found: dict[Group, float] = {}
    for rooms in rooms_by_application(case, counts).values():
        here = {group: used.get(group, 0.0) for group in rooms}
        if not any(here.values()):
            first = pools(case, rooms)[0]
            here.update({group: rooms[group] for group in first})
        scale = math.fsum(here.values()) / math.fsum(rooms[group] for group, rate in here.items() if rate > 0)
        weights = {group: rate or SPARE * scale * rooms[group] for group, rate in here.items()}
        total = math.fsum(weights.values())
        found.update({group: weight / total for group, weight in weights.items()})
    return found
