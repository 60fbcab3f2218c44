"""Measuring: which device is asked to profile what nobody has measured on its type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidewise.controller.case_builder import measured
from tidewise.controller.registry import Device
from tidewise.core.application import Application
from tidewise.core.plan import Plan
from tidewise.core.profile import Profile
from tidewise.core.report import MeasureRequest

PATIENCE = 300.0  # seconds one device may take before another of its type is asked


@dataclass(slots=True)
class Measuring:
    """One device of each type measures at a time: the idlest, and the same one until it is done, gone or too slow."""

    _chosen: dict[str, tuple[str, float]] = field(default_factory=dict)
    _complete: dict[str, tuple[Profile, tuple[Application, ...]]] = field(default_factory=dict)  # of which all is known

    def requests(
        self,
        applications: Mapping[str, Application],
        devices: Mapping[str, Device],
        profile: Profile,
        plan: Plan,
        now: float,
    ) -> tuple[MeasureRequest, ...]:
        """What is to be measured by whom, at this moment."""
        found = []
        here = profile, tuple(applications.values())
        for device_type in sorted({one.report.device_type for one in devices.values()}):
            if self._complete.get(device_type) == here:
                continue
            missing = _missing(applications, profile, device_type)
            if not missing:
                self._chosen.pop(device_type, None)
                self._complete[device_type] = here
                continue
            self._complete.pop(device_type, None)
            hosting = {one.worker for one in plan.assignments}
            device = self._choose(device_type, devices, hosting, now)
            found += [MeasureRequest(device, name, variants) for name, variants in missing.items()]
        return tuple(found)

    def _choose(self, device_type: str, devices: Mapping[str, Device], hosting: set[str], now: float) -> str:
        name, since = self._chosen.get(device_type, ("", now))
        if name in devices and now - since < PATIENCE:
            return name
        able = [one for one in devices.values() if one.report.device_type == device_type]
        others = [one for one in able if one.report.name != name] or able
        best = min(others, key=lambda one: _business(one, hosting)).report.name
        self._chosen[device_type] = best, now
        return best


def _missing(applications: Mapping[str, Application], profile: Profile, device_type: str) -> dict[str, tuple[str, ...]]:
    found = {
        name: tuple(one.name for one in application.variants if not measured(profile, application, one, device_type))
        for name, application in sorted(applications.items())
    }
    return {name: variants for name, variants in found.items() if variants}


def _business(device: Device, hosting: set[str]) -> tuple[bool, float, int, str]:
    report = device.report
    return report.name in hosting, report.arrival_rate, report.queued, report.name
