"""Arrivals of one application over the last seconds, summed over all routers, in bins of a quarter of a second."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

BIN = 0.25
MEMORY = 32.0  # seconds kept: the longest window, and what late reports need


@dataclass(slots=True)
class Arrivals:
    """Counts by bin. A report covering several bins is spread evenly over them."""

    _counts: deque[float] = field(default_factory=lambda: deque(maxlen=round(MEMORY / BIN)))
    _newest: int = 0
    _until: float = -math.inf
    _sums: list[float] = field(default_factory=list)  # of the bins before each; empty until asked for

    def add(self, count: float, start: float, end: float) -> None:
        """Count arrivals that came evenly between two times. What lies before the memory is forgotten."""
        if not math.isfinite(count) or count <= 0:
            return
        length = max(end - start, 1e-9)
        self._sums = []
        self._advance(_bin(end))
        self._until = max(self._until, end)
        for index in range(max(_bin(start), self._newest - len(self._counts) + 1), self._newest + 1):
            overlap = min(end, (index + 1) * BIN) - max(start, index * BIN)
            if overlap > 0:
                self._counts[index - self._newest - 1] += count * min(1.0, overlap / length)

    def rate(self, end: float, window: float) -> float:
        """Queries per second in (end - window, end]; reading changes nothing that can be seen."""
        return self.rates(end, (window,))[0]

    def rates(self, end: float, windows: Iterable[float]) -> list[float]:
        """The rate of each window that ends then."""
        whole = self._before(end)
        found = []
        for window in windows:
            came = whole - self._before(end - window)
            found.append(came / window if came > 0 else 0.0)
        return found

    def _before(self, time: float) -> float:
        """Arrivals remembered from before a time, spread evenly inside each bin; the newest is still filling."""
        if not self._sums:
            self._sums = [0.0, *accumulate(self._counts)]
        index, sums = _bin(time), self._sums
        place = index - self._newest + len(sums) - 2
        if place < 0:
            return 0.0
        if place >= len(sums) - 1:
            return sums[-1]
        start = index * BIN
        if start == time < self._until:
            return sums[place]
        known = min(start + BIN, self._until)
        part = min(1.0, (time - start) / (known - start)) if known > start else 1.0
        return sums[place] + self._counts[place] * part

    def _advance(self, index: int) -> None:
        if not self._counts:
            self._newest = index
            self._counts.append(0.0)
        # A long silence empties the memory; no need to append more zeros than it holds.
        for _ in range(min(index - self._newest, self._counts.maxlen or 0)):
            self._counts.append(0.0)
        self._newest = max(self._newest, index)
        while len(self._counts) < (self._counts.maxlen or 0):
            self._counts.appendleft(0.0)


def _bin(time: float) -> int:
    return math.floor(time / BIN)
