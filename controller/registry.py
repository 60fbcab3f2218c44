"""The registry: what is known of applications, devices and routers. Events in, facts out; rebuilt from reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.facts import NOTHING, Facts, Refusal
from tidewise.core.application import Application
from tidewise.core.profile import Key, Profile
from tidewise.core.report import DeviceReport, RouterReport, Unprofiled, WorkerReport
from tidewise.core.repository import ApplicationSource

SILENCE = 3.0  # seconds without a report after which a device counts as gone although its stream is open
STALL = 1.0  # seconds between two ticks after which the controller itself was asleep, not the workers
REMEMBERED = 100  # departed devices kept for the status


@dataclass(slots=True)  # never changed, but not frozen: every report makes some
class Device:
    """One device that is attached now, through the stream ``connection``."""

    report: DeviceReport
    process: str
    address: str
    connection: int

    @property
    def identity(self) -> tuple[str, str, int | None, bool]:
        """What the planner must know of; a change in it is a change of devices."""
        return self.report.name, self.report.device_type, self.report.memory, self.report.draining


@dataclass(slots=True)
class _Link:
    process: str
    seen: float
    silent: bool = False
    named: tuple[str, ...] = ()  # the devices it named last
    profiled: set[tuple[Key, str]] = field(default_factory=set)  # (key, digest) of entries it has reported


@dataclass(slots=True)
class Registry:
    """A device belongs to the newest stream that named it, and is gone with that stream.

    There is one table of devices; whatever else is asked (who is ready, who drains) is read from it.
    """

    applications: dict[str, Application] = field(default_factory=dict)
    sources: dict[str, ApplicationSource] = field(default_factory=dict)
    profile: Profile = field(default_factory=Profile)
    departed: dict[str, Device] = field(default_factory=dict)
    routers: dict[int, RouterReport] = field(default_factory=dict)
    _devices: dict[str, Device] = field(default_factory=dict)
    _links: dict[int, _Link] = field(default_factory=dict)
    _ticked: float | None = None

    def devices(self) -> Mapping[str, Device]:
        """Every device that is attached and not silent, by name."""
        return {name: one for name, one in self._devices.items() if not self._links[one.connection].silent}

    def serving(self) -> Mapping[str, Device]:
        """Devices that may be planned for: attached, heard of, and not draining."""
        return {name: one for name, one in self.devices().items() if not one.report.draining}

    def newest_version(self) -> int:
        """The newest plan version any device knows of."""
        reports = (one.report for one in self._devices.values())
        return max((max(one.applied_version, one.refused_version) for one in reports), default=0)

    def untold(self, connection: int) -> Profile:
        """What others measured on the device types of this stream, and it has not reported to know."""
        link = self._links.get(connection)
        types = {one.report.device_type for one in self._devices.values() if one.connection == connection}
        if link is None:
            return Profile()
        news = [
            one
            for key, one in self.profile.entries.items()
            if one.device_type in types and (key, one.digest) not in link.profiled
        ]
        return Profile().with_entries(news)

    def worker_reported(self, connection: int, report: WorkerReport, now: float) -> Facts:
        """A worker process introduced itself or reported again."""
        if self._as_before(connection, report):
            return self._reported_again(connection, report, now)
        before = self._identities()
        introduced = connection not in self._links or bool(report.profiles)
        link = self._links.setdefault(connection, _Link(report.process, now))
        link.seen, link.silent = now, False
        link.named = tuple(one.name for one in report.devices)
        old = dict(self._devices)
        superseded = tuple(one.name for one in report.devices if self._admit(connection, report, one))
        self._drop(connection, keep={one.name for one in report.devices})
        return replace(
            self._compare(before, old),
            introduced=introduced,
            profiles=self._learn(connection, report),
            refusals=_refusals(old, report.devices),
            unprofiled=_unprofiled(old, report.devices),
            superseded=superseded,
        )

    def worker_lost(self, connection: int) -> Facts:
        """The stream ended: its devices leave at once."""
        before, old = self._identities(), dict(self._devices)
        self._drop(connection, keep=set())
        self._links.pop(connection, None)
        return self._compare(before, old)

    def router_reported(self, connection: int, report: RouterReport) -> None:
        """A router introduced itself or reported again."""
        self.routers[connection] = report

    def router_lost(self, connection: int) -> None:
        """The stream ended."""
        self.routers.pop(connection, None)

    def applied(self, source: ApplicationSource, application: Application) -> Facts:
        """An application was added or replaced."""
        self.sources[application.name], self.applications[application.name] = source, application
        return Facts(applications=True, readiness=True)

    def removed(self, name: str) -> Facts:
        """An application was removed; nothing happens if it is not known."""
        known = self.applications.pop(name, None) is not None
        self.sources.pop(name, None)
        return Facts(applications=known, readiness=known)

    def tick(self, now: float) -> Facts:
        """Time passed: devices not heard of for too long count as gone until they report again."""
        asleep = 0.0 if self._ticked is None else now - self._ticked
        self._ticked = now
        if asleep > STALL:  # reports may be waiting unread; silence is ours, not theirs
            for link in self._links.values():
                link.seen += asleep
        fallen = [link for link in self._links.values() if not link.silent and now - link.seen > SILENCE]
        if not fallen:
            return NOTHING
        before, old = self._identities(), dict(self._devices)
        for link in fallen:
            link.silent = True
        return self._compare(before, old)

    def _as_before(self, connection: int, report: WorkerReport) -> bool:
        """Whether a report, as nearly all do, speaks of the very devices that the stream's report before did."""
        link = self._links.get(connection)
        if link is None or link.silent or report.profiles or len(report.devices) != len(link.named):
            return False
        return all(
            one.name == name and _same(self._devices.get(name), one, report, connection)
            for one, name in zip(report.devices, link.named, strict=True)
        )

    def _reported_again(self, connection: int, report: WorkerReport, now: float) -> Facts:
        """Take in a report after which the same devices are there as before."""
        self._links[connection].seen = now
        old = {one.name: self._devices[one.name] for one in report.devices}
        for one in report.devices:
            self._devices[one.name] = Device(one, report.process, report.address, connection)
        readiness = any(_serves_otherwise(old[one.name].report, one) for one in report.devices)
        refusals, unprofiled = _refusals(old, report.devices), _unprofiled(old, report.devices)
        if not (readiness or refusals or unprofiled):
            return NOTHING
        return Facts(readiness=readiness, refusals=refusals, unprofiled=unprofiled)

    def _admit(self, connection: int, report: WorkerReport, device: DeviceReport) -> bool:
        """Take the device in unless a newer stream owns it. True if it was taken from another process."""
        owner = self._devices.get(device.name)
        if owner is not None and owner.connection > connection:
            return False
        self._devices[device.name] = Device(device, report.process, report.address, connection)
        self.departed.pop(device.name, None)
        return owner is not None and owner.process != report.process

    def _drop(self, connection: int, keep: set[str]) -> None:
        gone = [n for n, one in self._devices.items() if one.connection == connection and n not in keep]
        for name in gone:
            self.departed[name] = self._devices.pop(name)
        while len(self.departed) > REMEMBERED:
            self.departed.pop(next(iter(self.departed)))

    def _learn(self, connection: int, report: WorkerReport) -> bool:
        entries = {key: entry for profile in report.profiles for key, entry in profile.entries.items()}
        self._links[connection].profiled |= {(key, entry.digest) for key, entry in entries.items()}
        fresh = [entry for key, entry in entries.items() if self.profile.entries.get(key) != entry]
        if fresh:
            self.profile = self.profile.with_entries(fresh)
        return bool(fresh)

    def _identities(self) -> frozenset[tuple[str, str, int | None, bool]]:
        return frozenset(one.identity for one in self.devices().values())

    def _compare(self, before: frozenset[tuple[str, str, int | None, bool]], old: Mapping[str, Device]) -> Facts:
        after = self._identities()
        moved = before != after
        return Facts(
            gained=frozenset(one[0] for one in after - before),
            lost=frozenset(one[0] for one in before - after),
            readiness=moved or _routable(old) != _routable(self._devices),
        )


def _same(known: Device | None, one: DeviceReport, report: WorkerReport, connection: int) -> bool:
    """Whether a device is known as the planner and the registry know it: type, memory, where it is, whose it is."""
    if known is None or known.connection != connection:
        return False
    before = known.report
    return (
        before.device_type == one.device_type
        and before.memory == one.memory
        and before.draining == one.draining
        and known.process == report.process
        and known.address == report.address
    )


def _serves_otherwise(before: DeviceReport, one: DeviceReport) -> bool:
    return before.applied_version != one.applied_version or before.warm != one.warm


def _routable(devices: Mapping[str, Device]) -> dict[str, tuple[object, ...]]:
    return {
        name: (one.address, one.report.warm, one.report.applied_version, one.report.draining)
        for name, one in devices.items()
    }


def _refusals(old: Mapping[str, Device], reports: tuple[DeviceReport, ...]) -> tuple[Refusal, ...]:
    """Devices whose refused version is newer than the one they last reported."""
    return tuple(
        Refusal(one.name, one.refused_version, one.refused_reason)
        for one in reports
        if one.refused_version > (old[one.name].report.refused_version if one.name in old else one.applied_version)
    )


def _unprofiled(old: Mapping[str, Device], reports: tuple[DeviceReport, ...]) -> tuple[tuple[str, Unprofiled], ...]:
    found = [(one.name, each) for one in reports for each in one.unprofiled]
    if not found:
        return ()
    known = {(name, one) for name, device in old.items() for one in device.report.unprofiled}
    return tuple(one for one in found if one not in known)
