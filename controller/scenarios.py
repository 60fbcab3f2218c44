"""The demands a placement must be good for: what was, what is, and what may come."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from tidewise.core.application import Application
from tidewise.core.cluster import PlannerSettings
from tidewise.core.demand import Estimate

SHORT, LEVEL, LONG = 3.0, 10.0, 30.0  # seconds, three of the estimator's windows
EVERY = 5.0  # seconds between remembered levels
REMEMBERED = 13  # of them: a minute
LEAST_RATE = 0.2  # queries per second whose noise even an idle application has

Rates = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Stress:
    """A demand not seen yet: ``factor`` times (level + ``sigma`` deviations), with this share of the weight."""

    factor: float
    sigma: float
    weight: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """How much is put on top of what was measured; found by experiment (docs/evaluation.md).

    Every scenario is planned as headroom * d + sigma * sqrt(D d / (SLO / 2)), the level with ``level_sigma`` such
    deviations more; the headroom is the application's or the cluster's, and the sigmas count in the cluster's. No
    ``sigma`` is needed: siblings of each device take up the noise. ``only_level`` leaves every other scenario out.
    """

    sigma: float = 0.0
    level_sigma: float = 0.5
    stresses: tuple[Stress, ...] = (Stress(1.25, 1.0, 0.3), Stress(1.6, 2.0, 0.15))
    only_level: bool = False


@dataclass(slots=True)
class DemandMemory:
    """The levels of the last minute, from which the busiest is taken."""

    _levels: deque[tuple[float, dict[str, float]]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))

    def note(self, estimates: Mapping[str, Estimate], now: float) -> None:
        """Look at the level; it is kept if the last one kept is old enough."""
        if not self._levels or now >= self._levels[-1][0] + EVERY:
            self._levels.append((now, {name: level(one) for name, one in estimates.items()}))

    def busiest(self) -> dict[str, float]:
        """The remembered levels whose sum is the largest; empty if there are none."""
        return max((levels for _, levels in self._levels), key=lambda one: sum(one.values()), default={})


def level(estimate: Estimate) -> float:
    """The rate of the last ten seconds; what is expected while nothing was measured."""
    return estimate.rates[LEVEL] if estimate.rates[LONG] > 0 else estimate.level


def scenarios(
    estimates: Mapping[str, Estimate],
    applications: Mapping[str, Application],
    busiest: Rates,
    tuning: Tuning,
    settings: PlannerSettings,
) -> tuple[tuple[float, dict[str, float]], ...]:
    """The weighted demands: the last 3 s and 30 s, the level (twice), the busiest of the last minute, stresses."""
    now = {name: level(one) for name, one in estimates.items()}
    deviation = {name: _deviation(now[name], one, applications[name].slo) for name, one in estimates.items()}

    def at(factor: float, sigma: float) -> dict[str, float]:
        return {name: factor * (now[name] + sigma * settings.sigma * deviation[name]) for name in now}

    seen = [
        (1.0, _window(estimates, SHORT)),
        (1.0, _window(estimates, LONG)),
        (2.0, at(1.0, tuning.level_sigma)),
        (1.0, {name: max(rate, busiest.get(name, 0.0)) for name, rate in now.items()}),
    ]
    if tuning.only_level:
        seen = seen[2:3]
    whole = sum(weight for weight, _ in seen)
    stressed = [(one.weight * whole, at(one.factor, one.sigma)) for one in tuning.stresses if not tuning.only_level]
    return tuple(
        (weight, {n: _planned(rate, estimates[n], applications[n], tuning, settings) for n, rate in demand.items()})
        for weight, demand in (*seen, *stressed)
    )


def _window(estimates: Mapping[str, Estimate], seconds: float) -> dict[str, float]:
    return {n: one.rates[seconds] if one.rates[LONG] > 0 else one.level for n, one in estimates.items()}


def _deviation(rate: float, estimate: Estimate, slo: float) -> float:
    return math.sqrt(estimate.dispersion * max(rate, LEAST_RATE) / (slo / 2))


def _planned(
    rate: float, estimate: Estimate, application: Application, tuning: Tuning, settings: PlannerSettings
) -> float:
    headroom = settings.headroom if application.headroom is None else application.headroom
    wanted = headroom * max(rate, 0.05)
    return wanted + tuning.sigma * settings.sigma * math.sqrt(estimate.dispersion * wanted / (application.slo / 2))
