"""One simulation: the clock that moves queries, answers and everything else, and what comes of it."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop

from tidewise.controller.policies.policy import AllocationPolicy
from tidewise.core.record import QueryRecord
from tidewise.core.report import WorkerReport
from tidewise.core.run import PlanChange, WorkerSample
from tidewise.simulator.control import PROCESS, Control
from tidewise.simulator.front import Front
from tidewise.simulator.ledger import Ledger, records
from tidewise.simulator.site import Site
from tidewise.simulator.timeline import Timeline
from tidewise.simulator.world import World

TICK = 0.25  # seconds, of the controller and of everyone's reports
SAMPLED = 1.0  # seconds between samples of what each device hosts
NEVER = float("inf")
Progress = Callable[[int, float], None]  # queries arrived so far, seconds of the trace


@dataclass(frozen=True, slots=True)
class Result:
    """What a simulation gives. ``cpu`` and ``solver_cpu`` (part of it) are seconds of this machine's processor."""

    records: tuple[QueryRecord, ...]
    plans: tuple[PlanChange, ...]
    samples: tuple[WorkerSample, ...]
    solves: int
    cpu: float
    solver_cpu: float

    @property
    def queries_per_cpu_second(self) -> float:
        """How fast the simulation went, leaving the solver out."""
        return len(self.records) / max(self.cpu - self.solver_cpu, 1e-9)


def simulate(
    world: World, seed: int = 0, progress: Progress | None = None, policy: AllocationPolicy | None = None
) -> Result:
    """Play the world's trace. The same world and seed give the same result, to the last query.

    ``policy`` takes the place of the allocation policy that the cluster names.
    """
    cpu = time.process_time()
    simulation = Simulation(world, seed)
    if policy is not None:
        simulation.control.conductor.planner.policy = policy
    with _uncollected():
        simulation.play(progress)
    spent = time.process_time() - cpu
    found = tuple(records(simulation.ledger, world.trace, world.applications, world.charges.caller))
    control = simulation.control
    return Result(found, tuple(control.plans), tuple(simulation.samples), control.solves, spent, control.solving)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leave cyclic garbage alone: next to none is made, and looking for it took a fifth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class Simulation:
    """The parts, wired. Between the heap of calls, the trace and the two queues of messages, the earliest goes first;
    among equals an answer comes before a query on its way, that before a call, and an arrival last.
    """

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.timeline = Timeline()
        self.ledger = Ledger(world.trace)
        self.front = Front(world, self.ledger, random.Random(f"router {seed}"), -TICK)
        self.site = Site(world, self.timeline, self.front.ended, self._tell, random.Random(f"engine {seed}"))
        self._telling = False
        self.control = Control(world, self.timeline, self.site.follow, self.front.install)
        self.samples: list[WorkerSample] = []
        self.timeline.at(-world.warm_up // TICK * TICK, self._begin)

    def play(self, progress: Progress | None = None) -> None:
        """Until every query has ended."""
        arrivals = self.world.trace.arrival.tolist()
        arrivals.append(NEVER)
        heap, stations, ledger = self.timeline.heap, self.site.stations, self.ledger
        sent, heard = self.front.sent, self.front.heard
        arrived, deliver, hear = self.front.arrived, self.site.deliver, self.front.hear
        index, due = 0, arrivals[0]
        while ledger.open:
            now = heap[0][0]
            if heard and heard[0][0] <= now and heard[0][0] <= due and (not sent or heard[0][0] <= sent[0][0]):
                hear(heard.popleft())
            elif sent and sent[0][0] <= now and sent[0][0] <= due:
                now, worker, query = sent.popleft()
                deliver(stations[worker], query, now)
            elif now <= due:
                now, _, call, argument = heappop(heap)
                call(argument, now)
            else:
                arrived(index, due)
                index += 1
                due = arrivals[index]
                if progress is not None and not index & 1023:
                    progress(index, due)

    def _begin(self, _: None, now: float) -> None:
        report = WorkerReport(PROCESS, "", self.site.reports(now), (self.world.profile,))
        self.control.introduce(report, now)
        self._tick(None, now)

    def _tick(self, _: None, now: float) -> None:
        """Reports, then the controller's own tick; what is due at the next quarter of a second is asked for."""
        if now >= 0:  # the router attaches when the trace begins, so that no silence before it passes for demand
            self.control.router_reported(self.front.report(now), now)
            if now % SAMPLED == 0:
                self.samples += self.site.samples(now)
        self._report(None, now)
        self.control.tick(now)
        self.timeline.at(now + TICK, self._tick)

    def _tell(self, now: float) -> None:
        """A device has news: a report goes up at once."""
        if not self._telling:
            self._telling = True
            self.timeline.at(now + self.world.charges.network, self._report)

    def _report(self, _: None, now: float) -> None:
        self._telling = False
        self.control.workers_reported(WorkerReport(PROCESS, "", self.site.reports(now)), now)
