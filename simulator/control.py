"""The controller under pretend time: its own machine, with reports, solves and orders that take their time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tidewise.controller.allocation.solve import Limits
from tidewise.controller.conductor import Conductor
from tidewise.controller.events import ApplicationApplied, Event, RouterReported, Solved, Ticked, WorkerReported
from tidewise.controller.planner import Publish, Solve
from tidewise.controller.policies import allocate
from tidewise.controller.policies.policy import Answer
from tidewise.core.application import Application
from tidewise.core.report import RouterReport, WorkerOrder, WorkerReport
from tidewise.core.repository import ApplicationSource
from tidewise.core.routes import RoutingSnapshot
from tidewise.core.run import PlanChange
from tidewise.simulator.timeline import Timeline
from tidewise.simulator.world import World

PROCESS = "site"
WORKERS, ROUTER = 1, 2  # the streams' numbers
Answered = tuple[int, Answer]


class Control:
    """The conductor and its lines. ``tell_workers`` and ``tell_router`` are called when what they carry arrives."""

    def __init__(
        self,
        world: World,
        timeline: Timeline,
        tell_workers: Callable[[WorkerOrder, float], None],
        tell_router: Callable[[RoutingSnapshot, float], None],
    ) -> None:
        self.conductor = Conductor(world.cluster, dict(world.expected))
        self.plans: list[PlanChange] = []
        self.solving = 0.0  # CPU seconds spent in the solver
        self.solves = 0
        self._world = world
        self._timeline = timeline
        self._tell_workers = tell_workers
        self._tell_router = tell_router
        self._told: tuple[int, int] = (0, 0)  # plan version, revision

    def introduce(self, report: WorkerReport, now: float) -> None:
        """The applications, and the workers with their profile."""
        for one in self._world.applications.values():
            self._step(ApplicationApplied(_Known("", "", {}, one), one), now)
        self._step(WorkerReported(WORKERS, report), now)

    def workers_reported(self, report: WorkerReport, now: float) -> None:
        """The workers' reports arrive."""
        self._step(WorkerReported(WORKERS, report), now)

    def router_reported(self, report: RouterReport, now: float) -> None:
        """The router's report arrives."""
        self._step(RouterReported(ROUTER, report), now)

    def tick(self, now: float) -> None:
        """A quarter of a second passed."""
        self._step(Ticked(), now)

    def _step(self, event: Event, now: float) -> None:
        for action in self.conductor.step(event, now):
            if isinstance(action, Solve):
                self._solve(action, now)
            elif isinstance(action, Publish):
                self.plans.append(PlanChange(now, action.plan))
        self._tell(now)

    def _solve(self, action: Solve, now: float) -> None:
        cpu, wall = time.process_time(), time.perf_counter()
        solution = _answer(action, self.conductor)
        self.solving += time.process_time() - cpu
        self.solves += 1
        charged = self._world.charges.solve
        seconds = time.perf_counter() - wall if charged is None else charged
        self._timeline.at(now + seconds, self._solved, (action.ticket, solution))

    def _solved(self, answer: Answered, now: float) -> None:
        self._step(Solved(*answer), now)

    def _tell(self, now: float) -> None:
        """Send whatever changed; it arrives one hop later."""
        conductor = self.conductor
        if not conductor.speaking:
            return
        there = now + self._world.charges.network
        plan, revision = conductor.planner.plan.version, conductor.publisher.snapshot.revision
        if plan != self._told[0]:
            self._timeline.at(there, self._tell_workers, conductor.order(WORKERS))
        if revision != self._told[1]:
            self._timeline.at(there, self._tell_router, conductor.publisher.snapshot)
        self._told = plan, revision


def _answer(action: Solve, conductor: Conductor) -> Answer:
    """What the solver's process would answer."""
    settings = conductor.cluster.planner
    method = conductor.planner.policy.method or settings.solver
    return allocate(action.case, method, Limits(gap=settings.gap), action.terms)


@dataclass(frozen=True, slots=True)
class _Known(ApplicationSource):
    """In pretend time nobody reads files: an application that is its own source."""

    application: Application

    def parse(self, where: str = "") -> Application:
        """The application."""
        return self.application
