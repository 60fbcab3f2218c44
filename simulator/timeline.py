"""Pretend time: calls in the order in which they are due."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from itertools import count
from typing import Any

Call = Callable[[Any, float], None]


class Timeline:
    """A heap of (time, number, call, argument); equal times keep the order in which they were asked for."""

    __slots__ = ("_numbers", "heap")

    def __init__(self) -> None:
        self.heap: list[tuple[float, int, Call, Any]] = []
        self._numbers = count()

    def at(self, time: float, call: Call, argument: Any = None) -> None:
        """Have ``call(argument, time)`` made at this time."""
        heappush(self.heap, (time, next(self._numbers), call, argument))
