"""So many lines a second and no more, without losing count of the rest."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Withheld:
    """What was not written: how often each key came between two times."""

    counts: dict[tuple[str, str], int]
    since: float
    until: float


@dataclass(slots=True)
class Quota:
    """Lets through ``limit`` events in each period of ``period`` seconds, and counts by key those it does not.

    The first event of each key passes in any case, so that many of one kind do not hide one of another; keys are few. A
    period begins with the first event after the one before has ended.
    """

    limit: int = 20
    period: float = 1.0
    _since: float = -math.inf
    _let: Counter[tuple[str, str]] = field(default_factory=Counter)
    _withheld: Counter[tuple[str, str]] = field(default_factory=Counter)

    def lets(self, key: tuple[str, str], now: float) -> bool:
        """Whether this event may be written; it is counted if not. Take what is due first."""
        if now >= self._since + self.period:
            self._since = now
            self._let.clear()
        if not self._let[key] or self._let.total() < self.limit:
            self._let[key] += 1
            return True
        self._withheld[key] += 1
        return False

    def withhold(self, key: tuple[str, str], count: int, now: float) -> None:
        """Count events that nobody can write any more."""
        if now >= self._since + self.period and not self._withheld:
            self._since = now
            self._let.clear()
        self._withheld[key] += count

    def due(self) -> float:
        """When what was withheld should be told; infinite while nothing is."""
        return self._since + self.period if self._withheld else math.inf

    def take(self, now: float) -> Withheld:
        """What was withheld so far, which is then forgotten."""
        counts, self._withheld = self._withheld, Counter()
        return Withheld(dict(counts), self._since, now)
