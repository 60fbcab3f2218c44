"""The demand estimate: tallies of all routers in, queries per second of each application out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidewise.controller.arrivals import Arrivals
from tidewise.controller.dispersion import Dispersion, combined
from tidewise.core.demand import NO_DEMAND, WINDOWS, Estimate
from tidewise.core.routes import Tally

MEAN_AGE = 5.0  # seconds: time constant of the level
LEAST_AGE = 0.25  # seconds
STATED = 3.0  # seconds of measurement that a stated expectation is worth
LATE = 1.0  # seconds a router's report may be overdue before its silence counts as no arrivals
LONGEST_TALLY = 30.0  # seconds; what a router says of longer ago is no estimate of now


@dataclass(slots=True)
class _Router:
    until: float
    dispersions: dict[str, Dispersion] = field(default_factory=dict)


@dataclass(slots=True)
class DemandEstimator:
    """Windows of rates, an exponentially weighted level and the index of dispersion, for every application.

    Times are the controller's. An application that nobody asked for in the longest window has demand exactly 0. Before
    the first arrivals nothing is known rather than nothing came, and a window reaches no further back. As their first
    second alone says little, a rate that is ``expected`` of an application counts as if it had been measured for
    ``STATED`` seconds just before.
    """

    expected: Mapping[str, float] = field(default_factory=dict)
    _arrivals: dict[str, Arrivals] = field(default_factory=dict)
    _levels: dict[str, float] = field(default_factory=dict)
    _routers: dict[int, _Router] = field(default_factory=dict)
    _levelled: float | None = None
    _born: float | None = None

    def add(self, router: int, tallies: Iterable[Tally], now: float) -> None:
        """One router's tallies since its report before."""
        state = self._routers.setdefault(router, _Router(now))
        state.until = max(state.until, now)
        for one in tallies:
            seconds = min(one.seconds, LONGEST_TALLY)
            if not seconds > 0:
                continue
            if self._born is None and one.arrivals > 0:
                self._born = now - seconds
            if self._born is None:
                continue
            self._arrivals.setdefault(one.application, Arrivals()).add(one.arrivals, now - seconds, now)
            state.dispersions.setdefault(one.application, Dispersion()).add(one.arrivals, seconds)

    def lost(self, router: int) -> None:
        """A router left; what it counted stays in the windows until it is old."""
        self._routers.pop(router, None)

    def forget(self, application: str) -> None:
        """An application was removed; what was expected of it was said of a beginning that is over."""
        self.expected = {name: rate for name, rate in self.expected.items() if name != application}
        self._arrivals.pop(application, None)
        self._levels.pop(application, None)
        for state in self._routers.values():
            state.dispersions.pop(application, None)

    def tick(self, now: float) -> None:
        """Let the levels follow the rate since the last tick."""
        end = self._known_until(now)
        seconds = end - self._levelled if self._levelled is not None else 0.0
        self._levelled = end if self._levelled is None else max(end, self._levelled)
        if seconds <= 0:
            return
        weight = 1 - math.exp(-seconds / MEAN_AGE)
        for name, arrivals in self._arrivals.items():
            here = arrivals.rate(end, min(seconds, WINDOWS[-1]))
            before = self._levels.get(name, self.expected.get(name, here))
            self._levels[name] = before + weight * (here - before)

    def estimate(self, application: str, now: float) -> Estimate:
        """What is known of this application; zeros if nothing. Reading changes nothing."""
        arrivals = self._arrivals.get(application)
        if arrivals is None:
            return NO_DEMAND
        end = self._known_until(now)
        age = max(end - self._born, LEAST_AGE) if self._born is not None else WINDOWS[-1]
        measured = zip(WINDOWS, arrivals.rates(end, (min(window, age) for window in WINDOWS)), strict=True)
        rates = {window: self._with_expected(application, rate, age, window) for window, rate in measured}
        parts = [one.dispersions[application] for one in self._routers.values() if application in one.dispersions]
        level = self._levels.get(application, 0.0) if rates[WINDOWS[-1]] > 0 else 0.0
        return Estimate(level, rates, combined(parts))

    def _with_expected(self, application: str, rate: float, age: float, window: float) -> float:
        """The mean of a rate measured for ``age`` seconds and, where the window is longer, of what was expected."""
        stated = min(STATED, window - age)
        if stated <= 0 or application not in self.expected:
            return rate
        return (age * rate + stated * self.expected[application]) / (age + stated)

    def _known_until(self, now: float) -> float:
        """The time up to which every router has reported, but never longer ago than ``LATE``."""
        return max(now - LATE, min((one.until for one in self._routers.values()), default=now))
