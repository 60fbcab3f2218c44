"""The C++ machine decides as worker/device.py does, action by action, on histories nobody thought of.

WORKER_HISTORIES says on how many, WORKER_FIRST from which on.
"""

from __future__ import annotations

import heapq
import os
import random

from twin_device import TwinDevice, needs_native
from worker_stories import LARGE, OTHER, SMALL

from tidewise.core.outcome import Reason
from tidewise.worker.actions import Action, Answered, Ended, Load, Start
from tidewise.worker.choice import CHOICES
from tidewise.worker.device import Device, Policy
from tidewise.worker.hosting import State
from tidewise.worker.orders import Order
from tidewise.worker.query import LaneKey, Query
from tidewise.worker.rivals import KNOWN
from tidewise.worker.servable import Model, Servable, tabulated

HISTORIES = int(os.environ.get("WORKER_HISTORIES", "200"))
FIRST = int(os.environ.get("WORKER_FIRST", "0"))
STEPS = 60
pytestmark = needs_native

MIDDLE = tabulated(Model("pets", "middle", "m1"), {1: 0.02, 3: 0.03, 8: 0.05}, version=3, memory=40)
CHANGED = tabulated(Model("pets", "small", "s2"), {1: 0.01, 4: 0.02}, version=1, memory=20)
PADDED = tabulated(Model("pets", "middle", "m1"), {4: 0.03, 16: 0.1}, version=3, memory=40)
LADDERS: tuple[tuple[Servable, ...], ...] = (
    (LARGE, MIDDLE, SMALL),
    (LARGE, SMALL),
    (PADDED, SMALL),
    (SMALL,),
    (LARGE, CHANGED),
    (OTHER,),
    (),
)
NEEDS = {one.model: one.memory for ladder in LADDERS for one in ladder}
LANES = [
    LaneKey("pets"),
    LaneKey("pets", "small"),
    LaneKey("pets", "large"),
    LaneKey("pets", "", ((2,),)),
    LaneKey("pets", "", ((3,), (4, 5))),
    LaneKey("cars"),
    LaneKey("boats"),
]


class Twins:
    """Both machines, told the same at the same times. ``later`` holds what is due: loads and ends of batches."""

    def __init__(self, chance: random.Random) -> None:
        policy = Policy(
            KNOWN[chance.choice(list(KNOWN))],
            CHOICES[chance.choice(list(CHOICES))],
            chance.choice((3, 12, 512)),
            chance.choice((0.0, 0.002)),
            chance.random() < 0.8,
        )
        linger = chance.choice((0.05, 2.0))
        self.memory = chance.choice((None, 140, 150, 190, 230))
        self.python = Device("d0", policy, linger, self.memory)
        self.native = TwinDevice("d0", policy, linger, self.memory)
        self.chance = chance
        self.now = 100.0
        self.later: list[tuple[float, int, Model | None]] = []
        self.sent: list[Query] = []
        self.version = 0

    def tell(self, event: str, *what: object) -> None:
        """One event to both; what they do about it must be the same."""
        mine = getattr(self.python, event)(*what)
        theirs = getattr(self.native, event)(*what)
        assert [_plain(one) for one in mine] == [_plain(one) for one in theirs], event
        assert (self.python.wake, self.python._margin) == (self.native.wake, self.native.margin), event
        assert (len(self.python.queue), self.python.idle) == (self.native.queued, self.native.idle), event
        assert len(self.python._gone) == self.native.gone
        assert self.python.hosting.states == self.native.hosting.states
        assert self.memory is None or sum(NEEDS[one] for one in self.python.hosting.states) <= self.memory
        for action in mine:
            if isinstance(action, Start):
                assert self.python.hosting.state(action.batch.servable.model) in (State.READY, State.LEAVING)
                stretch = self.chance.choice((0.5, 1.0, 1.0, 1.3, 3.0))
                self.soon(action.batch.servable.latency[action.batch.rows] * stretch, None)
            elif isinstance(action, Load):
                self.soon(self.chance.choice((0.0, 0.1, 0.5)), action.model)

    def soon(self, seconds: float, what: Model | None) -> None:
        heapq.heappush(self.later, (self.now + seconds, self.chance.getrandbits(40), what))

    def wait(self, seconds: float) -> None:
        """Let time pass, with all that is due in it."""
        end = self.now + seconds
        while (at := min(self.later[0][0] if self.later else end, self.python.wake)) < end:
            self.now = max(self.now, at)
            if self.later and self.later[0][0] <= self.now:
                self.happen(heapq.heappop(self.later)[2])
            else:
                self.tell("timer", self.now)
        self.now = end

    def happen(self, model: Model | None) -> None:
        if model is None:
            batch = self.python.running
            assert batch is not None
            failing = [part.query.id for part in batch.parts if self.chance.random() < 0.05]
            self.tell("batch_done", self.now, {one: f"query {one} broke" for one in failing})
        elif self.chance.random() < 0.1:
            self.tell("load_failed", model, "corrupt", self.now)
        else:
            self.tell("loaded", model, self.now)

    def step(self) -> None:
        chance = self.chance
        kind = chance.choices(
            ("burst", "wait", "cancel", "order", "timer", "refuse", "drain"), (40, 30, 12, 8, 6, 1, 0.3)
        )[0]
        if kind == "burst":
            for _ in range(chance.choice((1, 1, 2, 5, 20))):
                self.send()
        elif kind == "wait":
            self.wait(chance.choice((0.0005, 0.004, 0.02, 0.1, 0.7)) * chance.random())
        elif kind == "cancel" and self.sent:
            query = chance.choice(self.sent[-12:])
            self.tell("cancelled", query.id, self.now, chance.choice((Reason.CANCELLED, Reason.DEADLINE)))
        elif kind == "order":
            self.order()
        elif kind == "timer":
            self.tell("timer", self.now)
        elif kind == "refuse":
            self.tell("refused", self.version + 1, "no", self.now)
        elif kind == "drain":
            self.tell("drain", self.now)

    def send(self) -> None:
        chance = self.chance
        lane = chance.choices(LANES, (30, 6, 3, 6, 3, 6, 1))[0]
        within = chance.choice((0.0, 0.02, 0.05, 0.1, 0.3, 1.0)) * chance.choice((1.0, chance.random()))
        query = Query(len(self.sent) + 1, lane, self.now, self.now + within, chance.choice((1, 1, 1, 1, 2, 5, 20)))
        self.sent.append(query)
        self.tell("arrived", query, self.now)

    def order(self) -> None:
        self.version += 1
        ladder = self.chance.choice(LADDERS)
        ceiling = self.chance.randrange(len(ladder)) if ladder else 0
        application = ladder[0].model.application if ladder else ""
        self.tell("ordered", Order(self.version, application, ladder, ceiling), self.now)


def _plain(action: Action) -> object:
    match action:
        case Start(batch):
            parts = [(part.query.id, part.start, part.rows) for part in batch.parts]
            choice = batch.servable.model, batch.servable.latency, batch.plan_version
            return "start", choice, parts, batch.rows, batch.size, batch.reason, batch.started
        case Answered(query, _):
            return "answered", query.id
        case Ended(query, reason, text):
            return "ended", query.id, reason, text
    return action


def history(seed: int) -> Twins:
    chance = random.Random(seed)
    twins = Twins(chance)
    twins.order()
    if chance.random() < 0.8:
        twins.wait(1.0)
    for _ in range(STEPS):
        twins.step()
    twins.wait(30.0)
    return twins


def test_both_machines_decide_the_same_at_the_same_times() -> None:
    batches = 0
    for seed in range(FIRST, FIRST + HISTORIES):
        try:
            twins = history(seed)
        except AssertionError as error:
            raise AssertionError(f"history {seed}: {error}") from error
        mine, theirs = twins.python.counters, twins.native.counters
        assert +mine.outcomes == +theirs.outcomes
        assert (mine.arrivals, +mine.ended, +mine.dispatches) == (theirs.arrivals, +theirs.ended, +theirs.dispatches)
        assert mine.variants == theirs.variants
        assert twins.python.idle and twins.python.hosting.pending is None
        batches += sum(mine.dispatches.values())
    assert batches > 5 * HISTORIES
