"""The publisher: complete, versioned snapshots for workers and routers, made of the plan and of who is ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.registry import Device, Registry
from tidewise.core.application import Application
from tidewise.core.plan import EMPTY_PLAN, Assignment, Plan
from tidewise.core.profile import Profile
from tidewise.core.report import Holding, MeasureRequest, WorkerOrder
from tidewise.core.routes import Route, RoutingSnapshot

REMEMBERED = 64  # plans back, to know what a device that is still behind is serving
UNPLANNED_SHARE = 0.05  # for a device that serves something no remembered plan explains


_Of = tuple[Assignment | None, Application | None, tuple[Holding, ...], float, str, str, Profile]


@dataclass(frozen=True, slots=True)
class _Made:
    """A device's route, None if it can take no queries, and all that it was made of."""

    of: _Of
    route: Route | None


@dataclass(slots=True)
class Publisher:
    """``snapshot`` is what routers are told; its revision rises with every change of plan or readiness.

    A device is routed with what it serves: its new assignment once it has applied it, the one before until then.
    """

    plan: Plan = EMPTY_PLAN
    snapshot: RoutingSnapshot = field(default_factory=RoutingSnapshot)
    _history: dict[int, Mapping[str, Assignment]] = field(default_factory=dict)
    _made: dict[str, _Made] = field(default_factory=dict)  # the route of each device as it was last made

    def publish(self, plan: Plan) -> None:
        """This plan is in force now."""
        self.plan = plan
        self._history[plan.version] = {one.worker: one for one in plan.assignments}
        while len(self._history) > REMEMBERED:
            self._history.pop(next(iter(self._history)))

    def refresh(self, registry: Registry) -> bool:
        """Bring the snapshot up to date. True if it changed, and so has its revision."""
        self._made = {name: self._renewed(one, registry) for name, one in registry.serving().items()}
        routes = [one.route for one in self._made.values() if one.route is not None]
        fresh = replace(
            self.snapshot,
            plan_version=self.plan.version,
            applications=dict(registry.applications),
            routes=tuple(sorted(routes, key=_worker)),
        )
        if fresh == self.snapshot:
            return False
        self.snapshot = replace(fresh, revision=self.snapshot.revision + 1)
        return True

    def raise_revision(self, floor: int) -> bool:
        """A router knows of this revision, from a controller before; the next one must be above it. True if it is."""
        if floor <= self.snapshot.revision:
            return False
        self.snapshot = replace(self.snapshot, revision=floor + 1)
        return True

    def order(self, connection: int, registry: Registry, measures: tuple[MeasureRequest, ...]) -> WorkerOrder:
        """What the worker process behind this stream is to do."""
        mine = {name for name, one in registry.devices().items() if one.connection == connection}
        return WorkerOrder(
            plan_version=self.plan.version,
            applications=tuple(registry.sources[name] for name in sorted(registry.sources)),
            assignments=tuple(one for one in self.plan.assignments if one.worker in mine),
            measures=tuple(one for one in measures if one.device in mine),
            profile=registry.untold(connection),
        )

    def _renewed(self, device: Device, registry: Registry) -> _Made:
        """The device's route; the one made last, unless something that it is made of has changed."""
        serving, report = self._serving(device), device.report
        application = registry.applications.get(serving.application) if serving is not None else None
        of = (serving, application, report.warm, report.stretch, device.address, report.device_type, registry.profile)
        known = self._made.get(report.name)
        return known if known is not None and known.of == of else _Made(of, _route(report.name, *of))

    def _serving(self, device: Device) -> Assignment | None:
        """The assignment the device follows now."""
        report = device.report
        wanted = self._history.get(self.plan.version, {}).get(report.name)
        if report.applied_version >= self.plan.version:
            return wanted
        before = self._history.get(report.applied_version, {}).get(report.name)
        if before is None:
            return _unexplained(device, wanted)
        return wanted if wanted is not None and _hosting(wanted) == _hosting(before) else before


def _route(
    worker: str,
    serving: Assignment | None,
    application: Application | None,
    holdings: tuple[Holding, ...],
    stretch: float,
    address: str,
    device_type: str,
    profile: Profile,
) -> Route | None:
    if serving is None or application is None:
        return None
    warm = [one.variant for one in holdings if one.application == application.name]
    ready = tuple(name for name in warm if application.variant(name) is not None)
    if not ready:
        return None
    return Route(
        worker=worker,
        address=address,
        application=application.name,
        variants=ready,
        share=serving.share,
        capacity=serving.capacity,
        fastest=stretch * _fastest(profile, application, ready, device_type),
    )


def _worker(route: Route) -> str:
    return route.worker


def _unexplained(device: Device, wanted: Assignment | None) -> Assignment | None:
    """For a device that follows a plan nobody here remembers: what it has warm is what it serves."""
    if not device.report.warm:
        return None
    first = device.report.warm[0]
    if wanted is not None and wanted.application == first.application:
        return wanted
    return Assignment(
        device.report.name, first.application, (first.variant,), first.variant, UNPLANNED_SHARE, capacity=0.0
    )


def _hosting(one: Assignment) -> tuple[str, tuple[str, ...], str]:
    return one.application, one.warm, one.ceiling


def _fastest(profile: Profile, application: Application, variants: tuple[str, ...], device_type: str) -> float:
    """Seconds of a batch of one with the fastest of these variants; 0 if none was measured."""
    entries = (profile.get(application.name, name, device_type) for name in variants)
    return min((one.p50(1) for one in entries if one is not None), default=0.0)
