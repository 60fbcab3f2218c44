"""Local search in Python: single devices only (the native kernel also passes devices round in circles)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidewise.controller.allocation.twin import Application

LEAST_GAIN = 1e-12
WORK = 2_000_000  # pairs of pairs looked at in all: large problems get few moves here
Change = dict[int, int]


class Moves:
    """A move takes one device from a pair, or from the idle ones, to another pair of the same type."""

    def __init__(
        self,
        applications: Sequence[Application],
        devices: Sequence[int],
        swap_cost: float,
        targets: Sequence[float],
        charges: Sequence[float],
    ) -> None:
        self.applications, self.swap_cost, self.targets, self.charges = applications, swap_cost, targets, charges
        self.devices = devices
        self.pairs = [(k, a) for a, application in enumerate(applications) for k in application.pairs]

    def improve(self, counts: list[int], most: int) -> list[int]:
        """Apply the best move again and again, at most ``most`` times and within the work limit."""
        most = min(most, WORK // max(1, len(self.pairs) ** 2))
        values = [self._value(a, counts, {}) for a in range(len(self.applications))]
        for _ in range(most):
            gain, change = max(self._moves(counts, values), key=lambda move: move[0], default=(0.0, {}))
            if gain <= LEAST_GAIN:
                break
            for index, by in change.items():
                counts[index] += by
            values = [self._value(a, counts, {}) for a in range(len(self.applications))]
        return counts

    def _moves(self, counts: list[int], values: list[float]) -> Iterator[tuple[float, Change]]:
        """Every move with its gain. Between two applications the gain is the sum of two separate changes."""
        idle = list(self.devices)
        for k, _ in self.pairs:
            idle[k.type] -= counts[k.index]
        take = {k.index: self._value(a, counts, {k.index: 1}) - values[a] for k, a in self.pairs}
        give = {k.index: self._value(a, counts, {k.index: -1}) - values[a] for k, a in self.pairs if counts[k.index]}
        for to, a in self.pairs:
            if idle[to.type] > 0:
                yield take[to.index], {to.index: 1}
            for source, b in self.pairs:
                if source.index == to.index or source.type != to.type or source.index not in give:
                    continue
                change = {source.index: -1, to.index: 1}
                alone = take[to.index] + give[source.index]
                yield (alone if a != b else self._value(a, counts, change) - values[a]), change

    def _value(self, a: int, counts: list[int], change: Change) -> float:
        """Worth of what one application is served, less charges for shortage, missing replicas and loads."""
        application = self.applications[a]
        rest, served, worth, devices, loads = application.demand, 0.0, 0.0, 0, 0
        for k in application.pairs:
            count = counts[k.index] + change.get(k.index, 0)
            rate = min(rest, count * k.capacity)
            if application.floor > k.worth:
                rate = min(rate, max(0.0, (worth - application.floor * served) / (application.floor - k.worth)))
            rest, served, worth = rest - rate, served + rate, worth + rate * k.worth
            devices, loads = devices + count, loads + max(0, count - k.current)
        short, below, lonely = self.charges
        missing = max(0.0, self.targets[a] - served) * below + max(0, application.replicas - devices) * lonely
        return worth - self.swap_cost * loads - short * max(0.0, rest) - missing
