"""Counts of values by bucket: what a duration's distribution is kept as, cheap enough for every query."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

from tidewise.core.metrics_catalogue import SECONDS


@dataclass(slots=True)
class Histogram:
    """``counts[i]`` values were at most ``bounds[i]`` and more than the bound before; the last were above all bounds.

    ``total`` is the sum of the values. ``bounds`` ascend.
    """

    bounds: tuple[float, ...] = SECONDS
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)

    def add(self, value: float, times: int = 1) -> None:
        """Count a value, or as many equal ones."""
        self.counts[bisect_left(self.bounds, value)] += times
        self.total += value * times

    @property
    def count(self) -> int:
        """How many values were counted."""
        return sum(self.counts)

    def cumulative(self) -> list[tuple[float, int]]:
        """(bound, number of values up to it), the last bound infinite."""
        reached = 0
        found = []
        for bound, count in zip((*self.bounds, float("inf")), tuple(self.counts), strict=True):
            reached += count
            found.append((bound, reached))
        return found


def merged(histograms: Iterable[Histogram], bounds: tuple[float, ...] = SECONDS) -> Histogram:
    """All values of histograms that share these bounds."""
    whole = Histogram(bounds)
    for one in histograms:
        whole.counts = [mine + theirs for mine, theirs in zip(whole.counts, one.counts, strict=True)]
        whole.total += one.total
    return whole
