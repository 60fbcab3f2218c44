"""The devices under pretend time: the worker's own machines, with engines that take as long as the profile says."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from tidewise.core.cluster import Cluster
from tidewise.core.outcome import Reason
from tidewise.core.plan import Assignment
from tidewise.core.report import DeviceReport, Holding, WorkerOrder
from tidewise.core.run import WorkerSample
from tidewise.simulator.timeline import Timeline
from tidewise.simulator.world import World, device_names
from tidewise.worker.actions import Action, Answered, Ended, Load, Start
from tidewise.worker.device import Device, Policy
from tidewise.worker.engine.emulated import LEAST_NOISE
from tidewise.worker.hosting import NOTHING
from tidewise.worker.orders import Order, order_from
from tidewise.worker.query import Batch, Query
from tidewise.worker.reports import Readings
from tidewise.worker.servable import Model
from tidewise.worker.settings import device_policy
from tidewise.worker.stretch import stretch_of

_Alike = tuple[str, str, tuple[str, ...], str]  # device type, application, warm variants, ceiling
Ends = Callable[[float, int, str, Batch | None, Reason | None], None]


class Station:
    """One device with what surrounds it: the latencies that are true, its timer, its loads."""

    __slots__ = ("armed", "device", "holdings", "loading", "medians", "memory", "name", "readings", "told", "type")

    def __init__(self, name: str, kind: str, memory: int | None, policy: Policy) -> None:
        self.name = name
        self.type = kind
        self.memory = memory
        self.device = Device(name, policy, memory=memory)
        self.armed = float("inf")
        self.loading = 0
        self.readings = Readings()
        self.told: Assignment | None = None
        self.holdings: tuple[Order, tuple[Holding, ...]] = (NOTHING, ())
        self.medians: dict[Model, tuple[float, ...]] = {}


class Site:
    """All devices.

    ``ends(time, index, worker, batch, reason)`` is told of every query that ends on one, ``tell(time)`` of everything
    the controller should hear at once.
    """

    def __init__(
        self, world: World, timeline: Timeline, ends: Ends, tell: Callable[[float], None], generator: random.Random
    ) -> None:
        self.world = world
        self.stations = _stations(world.cluster, world.charges.reply)
        self._timeline = timeline
        self._ends = ends
        self._tell = tell
        self._noise = generator.gauss
        self._orders: dict[_Alike, Order] = {}

    def deliver(self, station: Station, query: Query, now: float) -> None:
        """A query reaches its device."""
        self._carry_out(station, station.device.arrived(query, now), now)

    def follow(self, order: WorkerOrder, now: float) -> None:
        """A plan reaches the worker process: every device is told its part."""
        parts = {one.worker: one for one in order.assignments}
        for name, station in self.stations.items():
            part = parts.get(name)
            self._carry_out(station, station.device.ordered(self._order(order, part, station), now), now)
            station.told = part

    def reports(self, now: float) -> tuple[DeviceReport, ...]:
        """What the controller is told of each device."""
        return tuple([_report(station, now) for station in self.stations.values()])

    def samples(self, now: float) -> list[WorkerSample]:
        """What each device hosts and does now."""
        return [_sample(station, now) for station in self.stations.values()]

    def _order(self, order: WorkerOrder, part: Assignment | None, station: Station) -> Order:
        if part is None:
            return Order(order.plan_version)
        alike = station.type, part.application, part.warm, part.ceiling
        known = self._orders.get(alike)
        if known is None:
            kind = self.world.cluster.device_types[station.type]
            application = self.world.applications[part.application]
            share = self.world.cluster.limits.batch_share
            known = order_from(order.plan_version, part, application, self.world.profile, kind, share)
        if known.version != order.plan_version:
            known = replace(known, version=order.plan_version)
        self._orders[alike] = known
        return known

    def _carry_out(self, station: Station, actions: Sequence[Action], now: float) -> None:
        for action in actions:
            kind = type(action)
            if kind is Answered:
                self._ends(now, action.query.id, station.name, action.batch, None)  # type: ignore[union-attr]
            elif kind is Start:
                seconds = self._seconds(station, action.batch)  # type: ignore[union-attr]
                self._timeline.at(now + seconds, self._batch_done, station)
                if action.batch.parts[0].query.deadline < now + seconds:  # type: ignore[union-attr]
                    self._give_up(station, action.batch, now + seconds)  # type: ignore[union-attr]
            elif kind is Ended:
                self._ends(now, action.query.id, station.name, None, action.reason)  # type: ignore[union-attr]
            elif kind is Load:
                self._load(station, action.model, now)  # type: ignore[union-attr]
            else:
                self._tell(now)
        wake = station.device.wake
        if wake < station.armed:
            station.armed = wake
            self._timeline.at(wake, self._ring, station)

    def _seconds(self, station: Station, batch: Batch) -> float:
        """How long the batch takes: its profiled median, give or take the noise, longer while something loads."""
        charges = self.world.charges
        known = station.medians.get(batch.servable.model) or self._medians(station, batch.servable.model)
        seconds = known[batch.size]
        if charges.noise:
            seconds *= max(LEAST_NOISE, self._noise(1.0, charges.noise))
        return seconds / (1 - charges.stealing) if station.loading and charges.stealing else seconds

    def _medians(self, station: Station, model: Model) -> tuple[float, ...]:
        entry = self.world.profile.get(model.application, model.variant, station.type)
        assert entry is not None, "a device runs only what was profiled"
        known = tuple(entry.p50(max(1, size)) for size in range(entry.max_batch + 1))
        station.medians[model] = known
        return known

    def _batch_done(self, station: Station, now: float) -> None:
        self._carry_out(station, station.device.batch_done(now), now)

    def _give_up(self, station: Station, batch: Batch, end: float) -> None:
        """Callers do not wait beyond their deadline, though the batch runs on."""
        for part in batch.parts:
            if part.query.deadline < end:
                self._timeline.at(part.query.deadline, self._given_up, (station, part.query.id))

    def _given_up(self, what: tuple[Station, int], now: float) -> None:
        station, query_id = what
        self._carry_out(station, station.device.cancelled(query_id, now, Reason.DEADLINE), now)

    def _ring(self, station: Station, now: float) -> None:
        """A timer; one that rings too early only sets itself anew."""
        if now < station.armed:
            return
        station.armed = float("inf")
        self._carry_out(station, station.device.timer(now) if station.device.wake <= now else (), now)

    def _load(self, station: Station, model: Model, now: float) -> None:
        entry = self.world.profile.get(model.application, model.variant, station.type)
        seconds = entry.load * self.world.charges.load if entry is not None else 0.0
        station.loading += 1
        self._timeline.at(now + seconds, self._loaded, (station, model))

    def _loaded(self, what: tuple[Station, Model], now: float) -> None:
        station, model = what
        station.loading -= 1
        self._carry_out(station, station.device.loaded(model, now), now)


def _stations(cluster: Cluster, reply: float) -> dict[str, Station]:
    policy = device_policy(cluster.policies, cluster.limits, reserve=reply)
    types = cluster.device_types
    return {name: Station(name, kind, types[kind].memory, policy) for name, kind in device_names(cluster).items()}


def _report(station: Station, now: float) -> DeviceReport:
    device, counters = station.device, station.device.counters
    arrivals, violations = station.readings.rates.update(now, sum(counters.arrivals.values()), counters.violations)
    serving = device.hosting.serving
    refused_version, refused_reason = device.hosting.refused
    return DeviceReport(
        name=station.name,
        device_type=station.type,
        memory=station.memory,
        warm=_holdings(station, serving),
        applied_version=serving.version,
        refused_version=refused_version,
        refused_reason=refused_reason,
        queued=len(device.queue),
        busy=device.running is not None,
        arrival_rate=arrivals,
        violation_rate=violations,
        stretch=stretch_of(device, station.readings.stretch, now),
    )


def _holdings(station: Station, serving: Order) -> tuple[Holding, ...]:
    """What is warm, made once for each order in force: reports are many, swaps few."""
    if station.holdings[0] is not serving:
        station.holdings = serving, tuple(Holding(*one.model) for one in serving.warm)
    return station.holdings[1]


def _sample(station: Station, now: float) -> WorkerSample:
    serving = station.device.hosting.serving
    return WorkerSample(
        at=now,
        worker=station.name,
        device_type=station.type,
        application=serving.application if serving.warm else "",
        variant=serving.choices[0].model.variant if serving.warm else "",
        plan_version=serving.version,
        queued=len(station.device.queue),
        busy=station.device.running is not None,
    )
