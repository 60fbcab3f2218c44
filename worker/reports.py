"""What a worker process tells the controller about its devices."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tidewise.core.report import DeviceReport, Holding, Unprofiled
from tidewise.worker.stations import AnyStation
from tidewise.worker.stretch import Stretch, stretch_of

WINDOW = 1.0  # seconds over which rates are taken


class Rates:
    """Arrivals and violations per second of one device over the last second, from its running counts."""

    def __init__(self) -> None:
        self._readings: deque[tuple[float, int, int]] = deque()

    def update(self, now: float, arrivals: int, violations: int) -> tuple[float, float]:
        """Take a reading; the rates since the oldest one in the window."""
        readings = self._readings
        readings.append((now, arrivals, violations))
        while len(readings) > 2 and readings[1][0] <= now - WINDOW:
            readings.popleft()
        since, first_arrivals, first_violations = readings[0]
        seconds = max(now - since, WINDOW)
        return (arrivals - first_arrivals) / seconds, (violations - first_violations) / seconds


@dataclass(slots=True)
class Readings:
    """What reports remember of one device from one to the next."""

    rates: Rates = field(default_factory=Rates)
    stretch: Stretch = field(default_factory=Stretch)


def device_report(
    station: AnyStation, readings: Readings, draining: bool, now: float, unprofiled: tuple[Unprofiled, ...] = ()
) -> DeviceReport:
    """One device as the controller should know it."""
    device = station.device
    hosting, counters = device.hosting, device.counters
    arrivals, violations = readings.rates.update(now, sum(counters.arrivals.values()), counters.violations)
    refused_version, refused_reason = hosting.refused
    return DeviceReport(
        name=device.name,
        device_type=station.device_type.name,
        memory=station.device_type.memory,
        warm=tuple(Holding(*one.model) for one in hosting.serving.warm),
        applied_version=hosting.serving.version,
        refused_version=refused_version,
        refused_reason=refused_reason,
        queued=device.queued,
        busy=device.busy,
        arrival_rate=arrivals,
        violation_rate=violations,
        served={"/".join(key): one.served for key, one in counters.variants.items()},
        draining=draining,
        stretch=stretch_of(device, readings.stretch, now),
        unprofiled=unprofiled,
    )
