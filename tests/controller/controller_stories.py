"""A pretend cluster that the controller's tests share: applications, profiles, and a world that obeys orders."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.allocation.solve import Limits
from tidewise.controller.conductor import Conductor
from tidewise.controller.events import (
    ApplicationApplied,
    RouterReported,
    Solved,
    SolveFailed,
    Ticked,
    WorkerLost,
    WorkerReported,
)
from tidewise.controller.planner import Action, Keep, Publish, Solve
from tidewise.controller.policies import allocate
from tidewise.core.application import Application
from tidewise.core.cluster import Cluster, DeviceType, PlannerSettings, Policies
from tidewise.core.plan import Plan
from tidewise.core.profile import BatchLatency, Profile, VariantProfile
from tidewise.core.report import DeviceReport, Holding, RouterReport, WorkerReport
from tidewise.core.repository import ApplicationSource, MeasuredAccuracy, format_accuracy
from tidewise.core.routes import Tally

LADDER = {"large": (0.95, 40.0), "medium": (0.90, 100.0), "small": (0.80, 300.0)}  # accuracy, queries/s
SPEED = {"big": 1.0, "little": 0.5}
TICK = 0.25


def source_of(name: str, slo_ms: float = 200.0, stamp: str = "1", extra: str = "") -> ApplicationSource:
    """An application with the ladder above; ``stamp`` goes into every digest."""
    variants = "".join(
        f'[[variants]]\nname = "{one}"\nversion = {number}\n' for number, one in enumerate(LADDER, start=1)
    )
    toml = (
        f'name = "{name}"\nslo_ms = {slo_ms}\n{extra}\n[[inputs]]\nname = "x"\ndatatype = "FP32"\nshape = [4]\n'
        f'[[outputs]]\nname = "y"\ndatatype = "FP32"\nshape = [2]\n{variants}'
    )
    digests = {one: f"{name}-{one}-{stamp}" for one in LADDER}
    measured = {
        one: MeasuredAccuracy(round(10_000 * accuracy), 10_000, digests[one]) for one, (accuracy, _) in LADDER.items()
    }
    return ApplicationSource(toml, format_accuracy(measured), digests)


def application_of(name: str, **kwargs: str) -> Application:
    return source_of(name, **kwargs).parse()  # type: ignore[arg-type]


def profile_of(*names: str, types: Mapping[str, float] = SPEED, stamp: str = "1", memory: int = 10) -> Profile:
    """Profiles of one batch size, 1, so that a capacity is what the ladder says times the type's speed."""
    entries = [
        VariantProfile(
            name,
            one,
            kind,
            (BatchLatency(1, 1 / (rate * speed), 1 / (rate * speed)),),
            memory,
            0.1,
            f"{name}-{one}-{stamp}",
        )
        for name in names
        for one, (_, rate) in LADDER.items()
        for kind, speed in types.items()
    ]
    return Profile().with_entries(entries)


def cluster_of(policy: str = "ilp", choice: str = "planned", **planner: float) -> Cluster:
    types = {name: DeviceType(name) for name in SPEED}
    settings = replace(PlannerSettings(), **planner)  # type: ignore[arg-type]
    return Cluster(types, policies=Policies(allocation=policy, variant_choice=choice), planner=settings)


@dataclass
class FakeDevice:
    """Does what it is told, ``loading`` seconds later; refuses digests in ``cannot``."""

    report: DeviceReport
    cannot: set[str] = field(default_factory=set)
    due: float | None = None


@dataclass
class World:
    """A conductor, its devices (one process each) and one router, under pretend time."""

    conductor: Conductor
    devices: dict[str, FakeDevice] = field(default_factory=dict)
    now: float = 0.0
    loading: float = 0.3
    solving: float = 0.1
    broken: str = ""
    lie: bool = False
    profile: Profile = field(default_factory=Profile)
    actions: list[tuple[float, Action]] = field(default_factory=list)
    rng: random.Random = field(default_factory=lambda: random.Random(7))
    attached: dict[str, int] = field(default_factory=dict)
    next_connection: int = 1000
    solves: list[tuple[float, Solve]] = field(default_factory=list)

    @property
    def plan(self) -> Plan:
        return self.conductor.planner.plan

    def plans(self) -> list[Plan]:
        return [one.plan for _, one in self.actions if isinstance(one, Publish)]

    def failures(self) -> list[str]:
        return [one.reason for _, one in self.actions if isinstance(one, Keep) and one.failure]

    def hosted(self) -> dict[str, str]:
        return {one.worker: f"{one.application}/{one.ceiling}" for one in self.plan.assignments}

    def apply(self, source: ApplicationSource) -> None:
        self._step(ApplicationApplied(source, source.parse()))

    def attach(self, *names: str, memory: int | None = None) -> None:
        """Devices named TYPE-NUMBER."""
        for name in names:
            known = self.devices.get(name)
            if known is None:
                self.devices[name] = FakeDevice(DeviceReport(name, name.partition("-")[0], memory))
            self.next_connection += 1
            self.attached[name] = self.next_connection
            self._report(name, first=True)

    def lose(self, name: str) -> None:
        self._step(WorkerLost(self.attached.pop(name)))

    def run(self, seconds: float, rates: Mapping[str, float] | None = None, routers: int = 1) -> None:
        """Let time pass, with Poisson arrivals at these rates spread over the routers."""
        for _ in range(round(seconds / TICK)):
            self.now += TICK
            for name in list(self.attached):
                self._obey(name)
                self._report(name)
            for router in range(routers):
                tallies = tuple(
                    Tally(name, TICK, self._poisson(rate * TICK / routers)) for name, rate in (rates or {}).items()
                )
                self._step(RouterReported(router, RouterReport(f"r{router}", "127.0.0.1:1", 0, tallies)))
            self._step(Ticked())
            self._answer()

    def _step(self, event: object) -> None:
        for action in self.conductor.step(event, self.now):  # type: ignore[arg-type]
            self.actions.append((self.now, action))
            if isinstance(action, Solve):
                self.solves.append((self.now + self.solving, action))

    def _answer(self) -> None:
        due = [one for one in self.solves if one[0] <= self.now]
        self.solves = [one for one in self.solves if one[0] > self.now]
        for _, action in due:
            if self.broken:
                self._step(SolveFailed(action.ticket, self.broken))
                continue
            solution = allocate(action.case, "highs", Limits(gap=1e-4), action.terms)
            if self.lie:
                solution = replace(
                    solution, counts={kind: dict.fromkeys(row, 99) for kind, row in solution.counts.items()}
                )
            self._step(Solved(action.ticket, replace(solution, wall=self.solving)))

    def _obey(self, name: str) -> None:
        if not self.conductor.speaking:
            return
        device = self.devices[name]
        order = self.conductor.order(self.attached[name])
        if order.plan_version in (device.report.applied_version, device.report.refused_version):
            return
        mine = next((one for one in order.assignments if one.worker == name), None)
        families = {one.parse().name: one.parse() for one in order.applications}
        warm = []
        for variant in mine.warm if mine else ():
            found = families[mine.application].variant(variant) if mine else None
            assert mine is not None and found is not None
            warm.append(Holding(mine.application, variant, found.digest))
        bad = [one for one in warm if one.digest in device.cannot]
        new = [one for one in warm if one not in device.report.warm]
        device.due = self.now + self.loading if device.due is None and new else device.due
        if bad:
            device.report = replace(device.report, refused_version=order.plan_version, refused_reason="corrupt file")
        elif not new or (device.due is not None and device.due <= self.now):
            device.report = replace(device.report, warm=tuple(warm), applied_version=order.plan_version)
            device.due = None

    def _report(self, name: str, first: bool = False) -> None:
        profiles = (self.profile,) if first and self.profile.entries else ()
        report = WorkerReport(name, f"127.0.0.1:{len(name)}", (self.devices[name].report,), profiles)
        self._step(WorkerReported(self.attached[name], report))

    def _poisson(self, mean: float) -> int:
        count, total = 0, self.rng.expovariate(1.0)
        while total < mean:
            count += 1
            total += self.rng.expovariate(1.0)
        return count


def world_of(*devices: str, applications: tuple[str, ...] = ("pets", "cars"), **cluster: object) -> World:
    """A world in which these devices serve these applications, planned and settled."""
    world = World(Conductor(cluster_of(**cluster)), profile=profile_of(*applications))  # type: ignore[arg-type]
    for name in applications:
        world.apply(source_of(name))
    world.attach(*devices)
    world.run(3)
    return world
