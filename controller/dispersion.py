"""The index of dispersion of arrivals: how much more than Poisson they clump."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

GROUP = 4  # tallies compared with their own mean, so that a trend is not taken for clumping
DECAY = 30.0  # seconds after which old groups weigh 1/e
PRIOR = 5.0  # groups of Poisson arrivals assumed before any is seen, so that little proves nothing
INFORMED = 3.0  # expected squares at which a group counts in full
LOWEST, HIGHEST = 0.2, 10.0  # also bounds what one group can say: a step in demand inside it is not clumping


@dataclass(slots=True)
class Dispersion:
    """One router's tallies of one application: the sum of their groups' indices, and how many groups that is."""

    indices: float = 0.0
    groups: float = 0.0
    arrivals: float = 0.0
    _open: list[tuple[int, float]] = field(default_factory=list)

    def add(self, count: int, seconds: float) -> None:
        """Take one more tally; every fourth closes a group."""
        self._open.append((count, seconds))
        if len(self._open) < GROUP:
            return
        length = math.fsum(one for _, one in self._open)
        keep = math.exp(-length / DECAY)
        index, weight = _index(self._open, length)
        self.indices = keep * self.indices + weight * index
        self.groups = keep * self.groups + weight
        self.arrivals = keep * self.arrivals + sum(one for one, _ in self._open)
        self._open.clear()


def _index(group: list[tuple[int, float]], length: float) -> tuple[float, float]:
    """The index of dispersion inside a group, and the weight of that evidence.

    Given their total N, Poisson counts are multinomial: variance N p (1 - p) with p the share of the time.
    """
    total = sum(count for count, _ in group)
    shares = [seconds / length for _, seconds in group]
    squares = math.fsum((n - total * p) ** 2 for (n, _), p in zip(group, shares, strict=True))
    expected = math.fsum(total * p * (1 - p) for p in shares)
    if expected <= 0:
        return 1.0, 0.0
    return min(squares / expected, HIGHEST), min(1.0, expected / INFORMED)


def combined(parts: Sequence[Dispersion]) -> float:
    """The index of the arrivals of all routers together, between 0.2 and 10; 1 when nothing is known.

    R routers behind one balancer each see a thinned stream, in which clumping is diluted: D - 1 = (D_r - 1) R. R is
    the effective number of routers, (sum n)^2 / sum n^2. Independent streams are overestimated, which is safe.
    """
    indices, groups = math.fsum(one.indices for one in parts), math.fsum(one.groups for one in parts)
    seen, spread = math.fsum(one.arrivals for one in parts), math.fsum(one.arrivals**2 for one in parts)
    routers = seen * seen / spread if spread > 0 else 1.0
    thinned = (indices + PRIOR) / (groups + PRIOR)
    return min(max(1 + (thinned - 1) * routers, LOWEST), HIGHEST)
