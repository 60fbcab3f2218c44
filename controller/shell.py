"""The controller's shell: owns the clock, the solver's process, the state folder and who is connected."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tidewise.controller.allocation.solve import Limits
from tidewise.controller.catalogue import Catalogue
from tidewise.controller.conductor import Conductor
from tidewise.controller.events import ApplicationApplied, ApplicationRemoved, Event, Solved, SolveFailed, Ticked
from tidewise.controller.exchange import Request
from tidewise.controller.outbox import Outbox
from tidewise.controller.planner import Action, Keep, Publish, Solve
from tidewise.controller.policies import allocation_policy
from tidewise.controller.retiring import Transition
from tidewise.controller.solving import SolverProcess
from tidewise.controller.status import status_message
from tidewise.controller.store import Store
from tidewise.controller.telemetry import Telemetry
from tidewise.core.cluster import Cluster, default_cluster
from tidewise.core.errors import SolverError
from tidewise.core.report import WorkerOrder
from tidewise.proto import control_pb2 as pb
from tidewise.proto.convert import snapshot_message
from tidewise.proto.convert_reports import order_message

TICK = 0.25  # seconds
GAUGES_EVERY = 4  # ticks
OWN_SHARE = 0.5  # of the wall-clock limit is what one integer program may take before it must return what it has
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a controller is started with. ``expected`` is demand in queries per second before any is measured.

    ``metrics`` is where Prometheus metrics are served, nowhere if None; ``state`` the folder kept between starts.
    """

    host: str = "127.0.0.1"
    port: int = 0
    cluster: Cluster = field(default_factory=default_cluster)
    repository: Path | None = None
    state: Path = Path(".tidewise/controller")
    expected: Mapping[str, float] = field(default_factory=dict)
    metrics: tuple[str, int] | None = None


@dataclass(slots=True)
class WorkerLine:
    """The sending side of one worker process's stream."""

    process: str
    outbox: Outbox[pb.WorkerOrder]
    sent: WorkerOrder | None = None


class Shell:
    """Feeds events to the conductor, carries out its actions, and keeps every stream up to date."""

    def __init__(self, settings: Settings, solver: SolverProcess | None = None) -> None:
        self.settings = settings
        self.conductor = Conductor(settings.cluster, settings.expected)
        self.store = Store.open(settings.state)
        self.catalogue = Catalogue()
        self.workers: dict[int, WorkerLine] = {}
        self.routers: dict[int, Outbox[pb.RoutingSnapshot]] = {}
        self.numbers = itertools.count(1)
        self.changed = asyncio.Event()
        self._solver = solver or SolverProcess()
        self._solves: set[asyncio.Task[None]] = set()
        self._telemetry = Telemetry()
        self._told_routers = -1
        self._transitions: Mapping[str, Transition] = {}
        self._started = time.monotonic()

    def load(self) -> None:
        """Read the applications and the plan from before. Raises RepositoryError."""
        for source, application in self.catalogue.load(self.settings.repository, self.store):
            self.step(ApplicationApplied(source, application))
        self._transitions = self.store.last_transitions()
        self.conductor.resume(self.store.last_plan(), self.store.revision_base, self._transitions)

    async def run(self) -> None:
        """Tick until cancelled."""
        warming = asyncio.create_task(self._warm_up())
        if self.settings.metrics is not None:
            self._telemetry.metrics.serve(self.settings.metrics[1], self.settings.metrics[0])
        try:
            for number in itertools.count():
                self.step(Ticked())
                if self.settings.metrics is not None and number % GAUGES_EVERY == 0:
                    self._telemetry.tick(self.conductor, time.monotonic())
                await asyncio.sleep(TICK)
        finally:
            self._telemetry.metrics.close()
            for task in (warming, *self._solves):
                task.cancel()
            await asyncio.gather(warming, *self._solves, return_exceptions=True)
            await self._solver.stop()
            self.store.close()

    def step(self, event: Event) -> None:
        """One event: decide, act, tell."""
        for action in self.conductor.step(event, time.monotonic()):
            self._act(action)
        self._keep_transitions()
        for text in self.conductor.warnings:
            log.warning(text)
        self.conductor.warnings.clear()
        self._tell_workers()
        self._tell_routers()

    def status(self) -> pb.StatusReply:
        """The status now."""
        now = time.monotonic()
        return status_message(self.conductor, now, now - self._started)

    def apply(self, event: ApplicationApplied, upload: Path) -> bool:
        """Take a complete upload in. True if it replaced an application."""
        name = event.application.name
        replaced = name in self.conductor.registry.applications
        self.catalogue.folders[name] = self.store.commit(name, upload)
        self.step(event)
        return replaced

    def remove(self, name: str) -> None:
        """Forget an application that is known."""
        self.store.remove(name)
        self.step(ApplicationRemoved(name))
        self.catalogue.folders.pop(name, None)

    def _act(self, action: Action) -> None:
        self._telemetry.acted(action, time.monotonic())
        if isinstance(action, Solve):
            task = asyncio.create_task(self._solve(action))
            self._solves.add(task)
            task.add_done_callback(self._solves.discard)
        elif isinstance(action, Publish):
            plan = action.plan
            self._keep(action)
            log.info(
                "plan published",
                extra={"plan_version": plan.version, "trigger": plan.trigger, "status": plan.status, "phi": plan.phi},
            )
        elif isinstance(action, Keep):
            level = logging.WARNING if action.failure else logging.INFO
            log.log(
                level, "plan kept", extra={"plan_version": self.conductor.planner.plan.version, "reason": action.reason}
            )

    def _keep(self, action: Publish) -> None:
        try:
            self.store.keep_plan(action.plan)
        except OSError as error:  # serving matters more; workers know the version too
            log.warning("the plan cannot be written to the state folder", extra={"reason": str(error)})

    def _keep_transitions(self) -> None:
        now = self.conductor.retiring.transitions
        if now == self._transitions:
            return
        self._transitions = now
        try:
            self.store.keep_transitions(now)
        except OSError as error:
            log.warning("what is being replaced cannot be written to the state folder", extra={"reason": str(error)})

    async def _solve(self, action: Solve) -> None:
        settings = self.settings.cluster.planner
        method = allocation_policy(self.settings.cluster.policies.allocation).method or settings.solver
        limits = Limits(gap=settings.gap, seconds=settings.solve_limit * OWN_SHARE)
        verdict = await self._solver.solve(Request(action.case, method, limits, action.terms), settings.solve_limit)
        if verdict.failure is None and verdict.answer is not None:
            self.step(Solved(action.ticket, verdict.answer))
        else:
            self.step(SolveFailed(action.ticket, verdict.reason, verdict.answer))

    async def _warm_up(self) -> None:
        try:
            await self._solver.start()
        except SolverError as error:
            log.warning("no solver yet", extra={"reason": str(error)})

    def _tell_workers(self) -> None:
        if not self.conductor.take_stale_orders():
            return
        for number, line in self.workers.items():
            order = self.conductor.order(number)
            if order != line.sent:
                line.sent = order
                line.outbox.put(order_message(order))
                self._wake_watchers()

    def _tell_routers(self, only: int | None = None) -> None:
        snapshot = self.conductor.publisher.snapshot
        if not self.conductor.speaking or (only is None and snapshot.revision == self._told_routers):
            return
        message = snapshot_message(snapshot, self.conductor.registry.sources)
        for number, outbox in self.routers.items():
            if only in (None, number):
                outbox.put(message)
        if only is None:
            self._told_routers = snapshot.revision
            self._wake_watchers()

    def welcome_router(self, number: int) -> None:
        """A router has just attached: it is told the snapshot in force, if there is one."""
        self._tell_routers(only=number)

    def _wake_watchers(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()
