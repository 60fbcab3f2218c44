"""The conductor: the whole controller as one machine without sockets. Events in, what is to be done out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.answer import without_missing
from tidewise.controller.demand import DemandEstimator
from tidewise.controller.events import (
    ApplicationApplied,
    ApplicationRemoved,
    Event,
    RouterLost,
    RouterReported,
    Solved,
    SolveFailed,
    Ticked,
    WorkerLost,
    WorkerReported,
)
from tidewise.controller.facts import NOTHING, Facts, Refusal
from tidewise.controller.measuring import Measuring
from tidewise.controller.planner import Action, Keep, Planner, Publish
from tidewise.controller.policies import allocation_policy
from tidewise.controller.publisher import Publisher
from tidewise.controller.quarantine import Quarantine
from tidewise.controller.question import View
from tidewise.controller.registry import Registry
from tidewise.controller.rejoin import Rejoining
from tidewise.controller.retiring import Retiring, Transition
from tidewise.controller.triggers import Cause, Trigger, devices_changed
from tidewise.controller.unprofiled import sentence
from tidewise.controller.warm import SIBLINGS
from tidewise.core.cluster import Cluster
from tidewise.core.demand import NO_DEMAND, Estimate
from tidewise.core.plan import Plan
from tidewise.core.report import MeasureRequest, WorkerOrder
from tidewise.core.routes import RoutingSnapshot

RECENT = 20  # plans kept for the status
PLANNED = "planned"  # the variant choice that uses no sibling


@dataclass(slots=True)
class Conductor:
    """Registry, demand, planner, publisher and quarantine, wired; ``expected`` is demand stated before any is seen.

    After each ``step`` the shell carries out the actions, and sends whoever's ``order`` or ``snapshot`` changed.
    """

    cluster: Cluster
    expected: Mapping[str, float] = field(default_factory=dict)
    registry: Registry = field(default_factory=Registry)
    demand: DemandEstimator = field(init=False)
    publisher: Publisher = field(default_factory=Publisher)
    quarantine: Quarantine = field(default_factory=Quarantine)
    rejoining: Rejoining = field(default_factory=Rejoining)
    retiring: Retiring = field(default_factory=Retiring)
    recent: list[Plan] = field(default_factory=list)
    failure: str = ""
    warnings: list[str] = field(default_factory=list)  # for the shell to log and clear
    refusals: Counter[str] = field(default_factory=Counter)  # by device type, since the start
    planner: Planner = field(init=False)
    measures: tuple[MeasureRequest, ...] = ()
    _measuring: Measuring = field(default_factory=Measuring)
    _seen: set[str] = field(default_factory=set)
    _stale_routes: bool = True
    _stale_orders: bool = True

    def __post_init__(self) -> None:
        self.demand = DemandEstimator(self.expected)
        limits, policies = self.cluster.limits, self.cluster.policies
        self.publisher.snapshot = RoutingSnapshot(max_message=limits.max_message, routing=policies.routing)
        self.planner = Planner(self.cluster.planner, allocation_policy(self.cluster.policies.allocation))

    def resume(self, plan: Plan, revision: int, transitions: Mapping[str, Transition] | None = None) -> None:
        """Go on from the plan and the transitions in force when the controller stopped, and above this revision.

        Call it when all applications are known: what the plan says of variants that are gone meanwhile is void.
        """
        for source in self.retiring.resume(transitions or {}, self.registry):
            self.registry.applied(source, source.parse())
        left = without_missing(plan, self.registry.applications)
        if left != plan.assignments:
            plan = replace(plan, assignments=left, version=plan.version + 1)
        self.planner.plan, self.planner.floor = plan, plan.version
        self.rejoining.expect({one.worker for one in plan.assignments})
        self.publisher.publish(plan)
        self.publisher.raise_revision(revision)

    def step(self, event: Event, now: float) -> list[Action]:
        """One event. The actions are in order; publishing is done already, as far as this machine is concerned."""
        actions = self._handle(event, now)
        for action in actions:
            if isinstance(action, Publish):
                self.publisher.publish(action.plan)
                self.recent = [*self.recent, replace(action.plan, assignments=())][-RECENT:]
                self._stale_routes = self._stale_orders = True
        if any(isinstance(one, Publish | Keep) for one in actions):
            failures = [one.reason for one in actions if isinstance(one, Keep) and one.failure]
            self.failure = failures[-1] if failures else ""
        if self._stale_routes:
            self._stale_routes = False
            self.publisher.refresh(self.registry)
        return actions

    @property
    def speaking(self) -> bool:
        """Whether orders and snapshots may be sent: not before a cluster that was running has come back."""
        return self.rejoining.done and self.planner.plan.version > 0

    def take_stale_orders(self) -> bool:
        """Whether some worker's order may differ from what it was at the last call."""
        stale, self._stale_orders = self._stale_orders and self.speaking, self._stale_orders and not self.speaking
        return stale

    def order(self, connection: int) -> WorkerOrder:
        """What the worker process behind this stream is to do."""
        return self.publisher.order(connection, self.registry, self.measures)

    def estimates(self, now: float) -> dict[str, Estimate]:
        """The demand of every application; what was expected of one until its first query comes."""
        return {name: self._estimate(name, now) for name in self.registry.applications}

    def view(self, now: float) -> View:
        """What the planner may look at."""
        devices = self.registry.serving()
        return View(
            applications=self.registry.applications,
            devices=devices,
            profile=self.registry.profile,
            estimates=self.estimates(now),
            device_types=self.cluster.device_types,
            barred=self.quarantine.barred(devices),
            siblings=0 if self.cluster.policies.variant_choice == PLANNED else SIBLINGS,
            expecting=bool(self.expected.keys() - self._seen),
            batch_share=self.cluster.limits.batch_share,
        )

    def _handle(self, event: Event, now: float) -> list[Action]:
        match event:
            case Ticked():
                return self._tick(now)
            case WorkerReported(connection, report):
                facts = self.registry.worker_reported(connection, report, now)
                self.warnings += [f"worker {name!r} now belongs to a newer process" for name in facts.superseded]
                self.warnings += [sentence(name, one) for name, one in facts.unprofiled]
                for one in report.devices:
                    self.quarantine.seen(one.name, report.process)
                self._take_facts(facts, now)
                if facts is not NOTHING:
                    self.planner.floor = max(self.planner.floor, self.registry.newest_version())
                self.rejoining.reported(report)
                if self.planner.floor > 0 and self.planner.plan.version == 0:
                    self.rejoining.found_running()
            case WorkerLost(connection):
                self._take_facts(self.registry.worker_lost(connection), now)
            case RouterReported(connection, report):
                self.registry.router_reported(connection, report)
                self._stale_routes = self.publisher.raise_revision(report.applied_revision) or self._stale_routes
                known = [one for one in report.tallies if one.application in self.registry.applications]
                self._seen.update(one.application for one in known if one.arrivals > 0)
                self.demand.add(connection, known, now)
            case RouterLost(connection):
                self.registry.router_lost(connection)
                self.demand.lost(connection)
            case ApplicationApplied(_, application):
                return self._applied(event, application.name, now)
            case ApplicationRemoved(name):
                return self._removed(name, now)
            case Solved(ticket, solution):
                return self.planner.solved(ticket, solution, self.view(now), now)
            case SolveFailed(ticket, reason, answer):
                return self.planner.failed(ticket, reason, self.view(now), now, answer)
        return []

    def _tick(self, now: float) -> list[Action]:
        self._take_facts(self.registry.tick(now), now)
        self.demand.tick(now)
        self.rejoining.tick(now)
        registry = self.registry
        for source in self.retiring.advance(registry, self.planner.plan) if self.rejoining.done else ():
            self._take_facts(registry.applied(source, source.parse()), now)
            self.planner.note(Trigger(Cause.APPLICATION, "old variants retire"), now)
        measures = self._measuring.requests(
            registry.applications, registry.serving(), registry.profile, self.planner.plan, now
        )
        self._stale_orders = self._stale_orders or measures != self.measures
        self.measures = measures
        return self.planner.tick(self.view(now), now) if self.rejoining.done else []

    def _applied(self, event: ApplicationApplied, name: str, now: float) -> list[Action]:
        source = self.retiring.replaced(name, event.source, self.registry, self.planner.plan)
        self._take_facts(self.registry.applied(source, source.parse()), now)
        self._keep_digests()
        return self.planner.withdraw(self.view(now), f"{name} applied", now)

    def _removed(self, name: str, now: float) -> list[Action]:
        facts = self.registry.removed(name)
        if not facts.applications:
            return []
        self._take_facts(facts, now)
        self.demand.forget(name)
        self.retiring.forget(name)
        self._keep_digests()
        return self.planner.withdraw(self.view(now), f"{name} removed", now)

    def _keep_digests(self) -> None:
        applications = self.registry.applications.values()
        self.quarantine.keep_only({variant.digest for one in applications for variant in one.variants})

    def _take_facts(self, facts: Facts, now: float) -> None:
        self._stale_routes = self._stale_routes or facts.readiness or facts.profiles
        news = facts.devices or facts.introduced or facts.profiles or facts.applications
        self._stale_orders = self._stale_orders or news
        if facts.devices:
            self.planner.note(devices_changed(facts.lost, facts.gained), now, settle=bool(facts.gained))
        if facts.profiles:
            self.planner.note(Trigger(Cause.PROFILE, "new measurements"), now, settle=True)
        for refusal in facts.refusals:
            self._refused(refusal, now)

    def _refused(self, refusal: Refusal, now: float) -> None:
        """Only what the plan in force asked counts; older orders are superseded already."""
        here = self.registry.devices().get(refusal.device)
        self.refusals[here.report.device_type if here is not None else ""] += 1
        assignment = self.planner.plan.of(refusal.device)
        if assignment is None or refusal.version != self.planner.plan.version:
            return
        family = self.registry.applications.get(assignment.application)
        if family is None or here is None:
            return
        ready = {one.digest for one in here.report.warm}
        wanted = [found.digest for name in assignment.warm if (found := family.variant(name)) is not None]
        self.quarantine.refused(refusal.device, [one for one in wanted if one not in ready], refusal.reason)
        self.planner.note(Trigger(Cause.REFUSAL, f"{refusal.device}: {refusal.reason}"), now)

    def _estimate(self, name: str, now: float) -> Estimate:
        if name in self.expected and name not in self._seen:
            return Estimate(level=self.expected[name])
        return self.demand.estimate(name, now) if name in self.registry.applications else NO_DEMAND
