"""The index of dispersion of arrivals: how much more than Poisson they clump."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

GROUP = 4  # tallies compared with their own mean, so that a trend is not taken for clumping
DECAY = 30.0  # seconds after which old groups weigh 1/e
PRIOR = 4.0  # pseudo-counts of Poisson arrivals, so that few arrivals prove nothing
LOWEST, HIGHEST = 0.2, 10.0


@dataclass(slots=True)
class Dispersion:
    """One router's tallies of one application: sums of squared deviations, and what Poisson arrivals would give."""

    squares: float = 0.0
    expected: float = 0.0
    arrivals: float = 0.0
    _group: list[tuple[int, float]] = field(default_factory=list)

    def add(self, count: int, seconds: float) -> None:
        """Take one more tally; every fourth closes a group."""
        self._group.append((count, seconds))
        if len(self._group) < GROUP:
            return
        length = math.fsum(one for _, one in self._group)
        keep = math.exp(-length / DECAY)
        total = sum(one for one, _ in self._group)
        # Given their total, Poisson counts are multinomial: variance N p (1 - p) with p the share of the time.
        shares = [one / length for _, one in self._group]
        deviations = [(n - total * p) ** 2 for (n, _), p in zip(self._group, shares, strict=True)]
        self.squares = keep * self.squares + math.fsum(deviations)
        self.expected = keep * self.expected + math.fsum(total * p * (1 - p) for p in shares)
        self.arrivals = keep * self.arrivals + total
        self._group.clear()


def combined(parts: Sequence[Dispersion]) -> float:
    """The index of the arrivals of all routers together, between 0.2 and 10; 1 when nothing is known.

    R routers behind one balancer each see a thinned stream, in which clumping is diluted: D - 1 = (D_r - 1) R. R is
    the effective number of routers, (sum n)^2 / sum n^2. Independent streams are overestimated, which is safe.
    """
    expected = math.fsum(one.expected for one in parts)
    squares = math.fsum(one.squares for one in parts)
    seen = math.fsum(one.arrivals for one in parts)
    spread = math.fsum(one.arrivals**2 for one in parts)
    routers = seen * seen / spread if spread > 0 else 1.0
    thinned = (squares + PRIOR) / (expected + PRIOR)
    return min(max(1 + (thinned - 1) * routers, LOWEST), HIGHEST)
