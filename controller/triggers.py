"""Triggers: why a plan is made now. Each test is a pure function of what was measured and what was planned for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tidewise.controller.registry import Device
from tidewise.core.cluster import PlannerSettings
from tidewise.core.demand import Estimate

BURST_WINDOW = 1.0  # seconds
LEAST_PLANNED = 1.0  # queries per second; below it single arrivals would pass for bursts
VIOLATION_RATIO = 0.1  # of a worker's arrivals, violated over the last second
VIOLATION_RATE = 1.0  # violations per second, so that one late answer is no trigger
AFTER_SOLVE = 0.5  # seconds to see what a plan did before the next


class Cause(StrEnum):
    """The kinds of triggers."""

    START = "start"
    PERIOD = "period"
    BURST = "burst"
    VIOLATIONS = "violations"
    DEVICES = "devices"
    APPLICATION = "application"
    PROFILE = "profile"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class Trigger:
    """One reason to plan, for a person; ``applications`` are those whose last second counts more than their level."""

    cause: Cause
    detail: str = ""
    applications: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.cause}: {self.detail}" if self.detail else str(self.cause)


def devices_changed(lost: frozenset[str], gained: frozenset[str]) -> Trigger:
    """Devices left or came."""
    words = (f"{_names(names)} {what}" for what, names in (("left", lost), ("came", gained)) if names)
    return Trigger(Cause.DEVICES, ", ".join(words))


def _names(names: frozenset[str]) -> str:
    first = sorted(names)
    return ", ".join(first[:3]) + (f" and {len(first) - 3} more" if len(first) > 3 else "")


def burst(estimates: Mapping[str, Estimate], planned: Mapping[str, float], settings: PlannerSettings) -> Trigger | None:
    """Whether some application's one-second rate exceeds ratio * planned + sigma * sqrt(dispersion * planned / 1 s).

    The dispersion keeps clumped arrivals, for which a Poisson test would thrash, from passing for bursts.
    """
    found = [name for name, one in estimates.items() if _bursts(one, planned.get(name, 0.0), settings)]
    if not found:
        return None
    first = found[0]
    rate = estimates[first].rates[BURST_WINDOW]
    detail = f"{first} at {rate:.1f} queries/s, {planned.get(first, 0.0):.1f} planned"
    return Trigger(Cause.BURST, detail, frozenset(found))


def _bursts(estimate: Estimate, planned: float, settings: PlannerSettings) -> bool:
    base = max(planned, LEAST_PLANNED)
    noise = math.sqrt(estimate.dispersion * base / BURST_WINDOW)
    return estimate.rates[BURST_WINDOW] > settings.burst_ratio * base + settings.burst_sigma * noise


def stretched(devices: Mapping[str, Device], planned: Mapping[str, float]) -> Trigger | None:
    """Whether a device takes longer for a batch than the plan in force reckons; ``planned`` by device."""
    slower = sorted(name for name, one in devices.items() if one.report.stretch > planned.get(name, 1.0))
    if not slower:
        return None
    return Trigger(Cause.PROFILE, f"{slower[0]} takes {devices[slower[0]].report.stretch:.2g} times its profile")


def violations(devices: Mapping[str, Device], hosted: Mapping[str, str]) -> Trigger | None:
    """Whether a worker dropped or delayed more than a tenth of the last second's arrivals.

    ``hosted`` is the application of each worker.
    """
    found = sorted(name for name, one in devices.items() if name in hosted and _violates(one))
    if not found:
        return None
    report = devices[found[0]].report
    detail = f"{found[0]} violates {report.violation_rate:.1f} of {report.arrival_rate:.1f} queries/s"
    return Trigger(Cause.VIOLATIONS, detail, frozenset(hosted[name] for name in found))


def _violates(device: Device) -> bool:
    report = device.report
    return report.violation_rate > max(VIOLATION_RATE, VIOLATION_RATIO * report.arrival_rate)


def hold_off(settings: PlannerSettings, solve: float) -> float:
    """Seconds from the start of one planning to the earliest start of the next; no second is judged twice."""
    return max(settings.hold_off, BURST_WINDOW, solve + AFTER_SOLVE)
