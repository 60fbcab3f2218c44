"""Ladders and a pretend driver that the worker's tests share."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from tidewise.worker.actions import Action, Answered, Ended, Load, Start, Unload
from tidewise.worker.batching import RULES
from tidewise.worker.choice import CHOICES
from tidewise.worker.device import Device, Policy
from tidewise.worker.orders import Order
from tidewise.worker.query import LaneKey, Query
from tidewise.worker.queue import Lane
from tidewise.worker.servable import Model, Servable, tabulated

SMALL = tabulated(Model("pets", "small", "s1"), {1: 0.01, 2: 0.012, 4: 0.016, 8: 0.024}, version=1, memory=20)
LARGE = tabulated(Model("pets", "large", "l1"), {1: 0.05, 2: 0.06, 4: 0.08, 8: 0.12}, version=2, memory=80)
OTHER = tabulated(Model("cars", "only", "o1"), {1: 0.02, 4: 0.05}, memory=60)
PETS = LaneKey("pets")


def order(version: int, *warm: Servable, ceiling: int = 0) -> Order:
    return Order(version, warm[0].model.application if warm else "", warm, ceiling)


def lane_of(*queries: tuple[float, int]) -> Lane:
    """A lane of (deadline, rows)."""
    lane = Lane(PETS)
    for number, (deadline, rows) in enumerate(queries):
        lane.add(Query(number, PETS, 0.0, deadline, rows), rows)
    return lane


class World:
    """Drives one device under pretend time: every batch takes ``stretch`` times its profile, every load ``load``."""

    def __init__(
        self,
        rule: str = "eager",
        choice: str = "planned",
        max_queue: int = 512,
        stretch: float = 1.0,
        reserve: float = 0.0,
        memory: int | None = None,
        staged: bool = True,
    ) -> None:
        policy = Policy(RULES[rule], CHOICES[choice], max_queue, reserve, staged)
        self.device = Device("d0", policy, memory=memory)
        self.now = 0.0
        self.stretch = stretch
        self.load = 0.5
        self.broken: set[Model] = set()
        self.held: set[Model] = set()
        self.log: list[tuple[float, Action]] = []
        self._later: list[tuple[float, int, object]] = []
        self._ids = 0

    def host(self, *warm: Servable, ceiling: int = 0) -> None:
        """Have these variants in force, with no time passing."""
        actions = self.device.ordered(order(1, *warm, ceiling=ceiling), self.now)
        while loads := [action.model for action in actions if isinstance(action, Load)]:
            self.held.update(loads)
            actions = [one for model in loads for one in self.device.loaded(model, self.now)]

    def order(self, one: Order) -> None:
        self._do(self.device.ordered(one, self.now))

    def send(self, deadline: float, rows: int = 1, lane: LaneKey = PETS) -> Query:
        """A query now, wanted within ``deadline`` seconds."""
        self._ids += 1
        query = Query(self._ids, lane, self.now, self.now + deadline, rows)
        self._do(self.device.arrived(query, self.now))
        return query

    def cancel(self, query: Query) -> None:
        self._do(self.device.cancelled(query.id, self.now))

    def until(self, time: float) -> None:
        """Let time pass."""
        while True:
            at = min(self._later[0][0] if self._later else float("inf"), max(self.device.wake, self.now))
            if at > time:
                break
            self.now = at
            if self._later and self._later[0][0] <= at:
                self._happen(heapq.heappop(self._later)[2])
            else:
                self._do(self.device.timer(at))
        self.now = time

    def _happen(self, what: object) -> None:
        if what is None:
            self._do(self.device.batch_done(self.now))
        elif what in self.broken:
            self._do(self.device.load_failed(what, "the file is corrupt", self.now))  # type: ignore[arg-type]
        else:
            self.held.add(what)  # type: ignore[arg-type]
            self._do(self.device.loaded(what, self.now))  # type: ignore[arg-type]

    def _do(self, actions: Sequence[Action]) -> None:
        for action in actions:
            self.log.append((self.now, action))
            if isinstance(action, Start):
                assert action.batch.servable.model in self.held, "a batch on a variant that is not loaded"
                self._soon(action.batch.servable.latency[action.batch.rows] * self.stretch, None)
            elif isinstance(action, Load):
                self._soon(self.load, action.model)
            elif isinstance(action, Unload):
                assert self.device.running is None or self.device.running.servable.model != action.model
                self.held.discard(action.model)

    def _soon(self, seconds: float, what: object) -> None:
        self._ids += 1
        heapq.heappush(self._later, (self.now + seconds, self._ids, what))

    def batches(self) -> list[tuple[str, int, int]]:
        """(variant, rows, size) of every batch started."""
        started = [action.batch for _, action in self.log if isinstance(action, Start)]
        return [(one.servable.model.variant, one.rows, one.size) for one in started]

    def answers(self) -> dict[int, str]:
        """The variant that answered, by query id."""
        answered = [action for _, action in self.log if isinstance(action, Answered)]
        return {one.query.id: one.batch.servable.model.variant for one in answered}

    def ends(self) -> dict[int, tuple[float, str]]:
        """When and why queries ended unanswered, by query id."""
        return {one.query.id: (at, one.reason.value) for at, one in self.log if isinstance(one, Ended)}
