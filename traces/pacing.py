"""When to send: the open loop's one decision. Nothing that happens to earlier queries enters it."""

from __future__ import annotations

from dataclasses import dataclass

from tidewise.core.trace import Floats


@dataclass(frozen=True, slots=True)
class Send:
    """Send the queries with indexes ``first`` up to, not including, ``last`` now."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Sleep:
    """Nothing is due before ``until``."""

    until: float


@dataclass(frozen=True, slots=True)
class Finished:
    """Every query has been sent."""


class Pacer:
    """Walks once through due times (seconds, ascending)."""

    def __init__(self, due: Floats) -> None:
        self._due = due.tolist()  # plain floats compare several times faster than array elements
        self._next = 0

    @property
    def sent(self) -> int:
        """How many queries have been handed out."""
        return self._next

    def step(self, now: float, most: int) -> Send | Sleep | Finished:
        """What to do at ``now``; at most ``most`` queries at once, so that answers are read in between."""
        first, end = self._next, len(self._due)
        if first == end:
            return Finished()
        if self._due[first] > now:
            return Sleep(self._due[first])
        last = first + 1
        while last < end and last - first < most and self._due[last] <= now:
            last += 1
        self._next = last
        return Send(first, last)
