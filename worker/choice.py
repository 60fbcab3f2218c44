"""Variant choice by name: which warm variant runs the next batch of a lane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tidewise.worker.batching import SLACK
from tidewise.worker.queue import Lane
from tidewise.worker.servable import Servable

Choice = Callable[[Lane, Sequence[Servable], float], Servable]
"""(lane, warm variants from the ceiling down, now) -> the one to run; there is always at least one to choose from."""


def planned(lane: Lane, warm: Sequence[Servable], now: float) -> Servable:
    """The ceiling: what the plan says, whatever the backlog."""
    return warm[0]


def anytime(lane: Lane, warm: Sequence[Servable], now: float) -> Servable:
    """The most accurate variant that drains the lane's whole backlog by its deadlines, else the fastest."""
    for one in warm:
        if drains(lane, one, now):
            return one
    return max(warm, key=_rate)


def drains(lane: Lane, servable: Servable, now: float) -> bool:
    """Whether batches of the best rate, back to back from ``now``, end by every batch's first deadline."""
    finish, place, left = now, 0, lane.total
    while place < len(lane.rows):
        count, rows = lane.fitting(place, servable.brisk[min(left, servable.cap)])
        left -= rows
        finish += servable.span(max(rows, lane.rows[place]))
        if finish > lane.deadlines[place] + SLACK:
            return False
        place += count
    return True


def _rate(servable: Servable) -> float:
    return servable.rate


CHOICES: Mapping[str, Choice] = {"planned": planned, "anytime": anytime}
