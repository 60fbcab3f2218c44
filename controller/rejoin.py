"""Rejoining: a controller that finds a running cluster waits for it to come back before it says anything.

Workers and routers go on with what they were told last. A snapshot made while only some workers have come back would
take the others out of service; so none is sent until all that the last plan names are back, or a grace has passed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidewise.core.report import WorkerReport

GRACE = 5.0  # seconds since the start; workers try to come back at least every few


@dataclass(slots=True)
class Rejoining:
    """``done`` once it is safe to speak. A new cluster, where nobody follows any plan, need not wait."""

    done: bool = True
    _missing: set[str] = field(default_factory=set)
    _started: float | None = None
    _unknown: bool = False

    def expect(self, workers: set[str]) -> None:
        """A plan from before names these workers."""
        self._missing = set(workers)
        self.done = not workers

    def reported(self, report: WorkerReport) -> None:
        """A worker process is back."""
        if self._missing:
            self._missing -= {one.name for one in report.devices}

    def found_running(self) -> None:
        """Somebody follows a plan, and none is known here: who else does so is not known either."""
        self._unknown, self.done = True, False

    def tick(self, now: float) -> None:
        """Time passed; the first tick is the start."""
        self._started = now if self._started is None else self._started
        if not self.done and (now >= self._started + GRACE or not (self._missing or self._unknown)):
            self.done = True
