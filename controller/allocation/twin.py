"""The native kernel once more in Python, to be read beside native/planner and to check it.

Losses are those of native/planner/pricing.hpp.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tidewise.controller.allocation.twin_moves import Moves

WHOLE = 1e-9


@dataclass(frozen=True, slots=True)
class Pair:
    """One device of ``type`` serves ``capacity`` queries per second, each worth ``worth`` to the objective."""

    index: int
    type: int
    capacity: float
    worth: float
    current: int


@dataclass(frozen=True, slots=True)
class Application:
    """Demand and the part that must be served (queries per second), least mean worth, replicas, pairs by worth."""

    demand: float
    least: float
    floor: float
    replicas: int
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One way to serve an application: its loss, devices used by type, and devices by pair index."""

    loss: float
    use: tuple[int, ...]
    counts: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class PythonPriced:
    """See kernel.Priced."""

    bound: float
    use: list[Sequence[int]]
    values: list[float]
    hostings: list[int]
    found: list[bool]


@dataclass(slots=True)
class PythonJoint:
    """See kernel.Joint."""

    found: bool
    loss: float
    counts: list[int]
    dropped: float = 1e300
    states: int = 0


@dataclass(slots=True)
class Pricing:
    """One application's losses at given prices."""

    application: Application
    prices: Sequence[float]
    swap_cost: float
    devices: Sequence[int]
    limit: float = math.inf  # columns of more loss are not wanted; lowered as better ones are found
    lam: float = field(init=False)

    def __post_init__(self) -> None:
        self.lam = max(k.worth - self.prices[k.type] / k.capacity for k in self.application.pairs)
        if self.application.least < self.application.demand:
            self.lam = max(self.lam, 0.0)

    def full(self, k: Pair) -> float:
        """Loss of a fully busy device."""
        return max(0.0, (self.lam - k.worth) * k.capacity + self.prices[k.type])

    def swap(self, k: Pair, count: int) -> float:
        """Swap cost of so many devices."""
        return self.swap_cost * max(0, count - k.current)

    def columns(self, i: int = 0, rest: float | None = None, loss: float = 0.0) -> Iterator[Column]:
        """Every column within the limit whose pairs come from i on and serve ``rest``, all fully busy but the last."""
        rest = self.application.demand if rest is None else rest
        left_out = loss + self.lam * rest
        if rest <= self.application.demand - self.application.least and left_out <= self.limit:
            yield Column(left_out, (0,) * len(self.devices), ())
        for j in range(i, len(self.application.pairs)):
            k = self.application.pairs[j]
            count = max(1, math.ceil(rest / k.capacity - WHOLE))
            slack = max(0.0, count * k.capacity - rest)
            last = loss + count * self.full(k) + (k.worth - self.lam) * slack + self.swap(k, count)
            if count <= self.devices[k.type] and last <= self.limit:
                yield self._column(last, k, count, ())
            for full in range(min(self.devices[k.type], math.floor(rest / k.capacity - WHOLE)), 0, -1):
                spent = loss + full * self.full(k) + self.swap(k, full)
                if spent <= self.limit:
                    yield from self._after(j, full, rest - full * k.capacity, spent)

    def _after(self, j: int, full: int, rest: float, loss: float) -> Iterator[Column]:
        """Columns that continue after ``full`` devices of pair j."""
        k = self.application.pairs[j]
        left = list(self.devices)
        left[k.type] -= full
        inner = Pricing(self.application, self.prices, self.swap_cost, left)
        inner.limit = self.limit
        for column in inner.columns(j + 1, rest, loss):
            yield self._column(column.loss, k, full, column.counts, column.use)
            inner.limit = self.limit

    def _column(
        self, loss: float, k: Pair, count: int, others: tuple[tuple[int, int], ...], use: tuple[int, ...] = ()
    ) -> Column:
        used = list(use or [0] * len(self.devices))
        used[k.type] += count
        return Column(loss, tuple(used), ((k.index, count), *others))

    def keeps_floor(self, column: Column) -> bool:
        """Whether the mean worth of served queries is at the floor or above."""
        by_index = {k.index: k for k in self.application.pairs}
        rest, worth = self.application.demand, 0.0
        for index, count in column.counts:
            rate = min(rest, count * by_index[index].capacity)
            rest, worth = rest - rate, worth + rate * by_index[index].worth
        return worth >= self.application.floor * (self.application.demand - rest) * (1 - 1e-9)


class PythonKernel:
    """See kernel.Kernel. Work limits are ignored: everything is searched."""

    def __init__(
        self,
        *,
        devices: Sequence[int],
        demand: Sequence[float],
        least: Sequence[float],
        floor: Sequence[float],
        replicas: Sequence[int],
        start: Sequence[int],
        pair_type: Sequence[int],
        capacity: Sequence[float],
        worth: Sequence[float],
        current: Sequence[int],
        swap_cost: float,
    ) -> None:
        pairs = [Pair(*row) for row in zip(range(len(worth)), pair_type, capacity, worth, current, strict=True)]
        self.applications = [
            Application(demand[a], least[a], floor[a], replicas[a], tuple(pairs[start[a] : start[a + 1]]))
            for a in range(len(demand))
        ]
        self.devices, self.pair_count, self.swap_cost = devices, len(pairs), swap_cost
        self.joinable = True
        self.prices: Sequence[float] = ()
        self.least: list[float] = []
        self.listed: list[list[Column]] = []

    @property
    def columns(self) -> list[int]:
        """How many columns each application has."""
        return [len(columns) for columns in self.listed]

    def price(self, prices: Sequence[float], most_nodes: int) -> PythonPriced:
        """The Lagrangian at these prices."""
        self.prices, self.least = prices, []
        priced = PythonPriced(
            sum(p * n for p, n in zip(prices, self.devices, strict=True)), [], [], [0] * self.pair_count, []
        )
        for application in self.applications:
            if application.demand <= 0 or not application.pairs:
                self._price(priced, Column(0.0, (0,) * len(self.devices), ()), 0.0)
                continue
            pricing = Pricing(application, prices, self.swap_cost, self.devices)
            best = Column(1e290, (), ())
            for column in pricing.columns():
                if column.loss < best.loss and pricing.keeps_floor(column):
                    best, pricing.limit = column, column.loss
            self._price(priced, best, pricing.lam * application.demand)
        return priced

    def _price(self, priced: PythonPriced, column: Column, ceiling: float) -> None:
        paid = sum(price * n for price, n in zip(self.prices, column.use, strict=False))
        self.least.append(column.loss)
        priced.bound += ceiling - column.loss
        priced.found.append(bool(column.use))
        priced.use.append(column.use or (0,) * len(self.devices))
        priced.values.append(ceiling - column.loss + paid)
        for index, count in column.counts:
            priced.hostings[index] = count

    def enumerate(self, excess: float, most_columns: int, most_nodes: int) -> float:
        """List the columns within an excess over the best, at the last prices; complete for all of it."""
        self.listed = []
        for application, least in zip(self.applications, self.least, strict=True):
            if application.demand <= 0 or not application.pairs:
                self.listed.append([Column(0.0, (0,) * len(self.devices), ())])
                continue
            pricing = Pricing(application, self.prices, self.swap_cost, self.devices, limit=least + excess)
            best: dict[tuple[int, ...], Column] = {}
            for column in filter(pricing.keeps_floor, pricing.columns()):
                if column.use not in best or column.loss < best[column.use].loss:
                    best[column.use] = column
            self.listed.append([Column(c.loss - least, c.use, c.counts) for c in best.values()])
        return excess

    def join(self, limit: float, beam: int) -> PythonJoint:
        """The best combination within a loss: dynamic program over the applications, states by devices used."""
        states: dict[tuple[int, ...], Column] = {(0,) * len(self.devices): Column(0.0, (), ())}
        for columns in self.listed:
            reached: dict[tuple[int, ...], Column] = {}
            for use, state in states.items():
                for column in columns:
                    total = tuple(map(sum, zip(use, column.use, strict=True)))
                    loss = state.loss + column.loss
                    fits = all(n <= most for n, most in zip(total, self.devices, strict=True))
                    if fits and loss <= limit and (total not in reached or loss < reached[total].loss):
                        reached[total] = Column(loss, total, state.counts + column.counts)
            states = reached
        return self._best(states.values(), limit)

    def _best(self, states: Iterable[Column], limit: float) -> PythonJoint:
        """The state of least loss once the price of its idle devices is added."""
        best = PythonJoint(False, limit, [])
        for state in states:
            idle = sum(p * (most - n) for p, most, n in zip(self.prices, self.devices, state.use, strict=True))
            if state.loss + idle <= best.loss:
                counts = [0] * self.pair_count
                for index, count in state.counts:
                    counts[index] = count
                best = PythonJoint(True, state.loss + idle, counts)
        return best

    def improve(
        self, counts: Sequence[int], targets: Sequence[float], charges: Sequence[float], most: int
    ) -> list[int]:
        """Counts after at most so many local moves."""
        return Moves(self.applications, self.devices, self.swap_cost, targets, charges).improve(list(counts), most)
