"""Demand: what is known of an application's arrivals at one moment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from tidewise.core.cluster import PlannerSettings

WINDOWS = (0.25, 1.0, 3.0, 10.0, 30.0)  # seconds
NO_RATES: Mapping[float, float] = dict.fromkeys(WINDOWS, 0.0)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Arrivals of one application, in queries per second, never NaN.

    ``rates`` by window length in seconds, ``level`` an exponentially weighted mean, ``dispersion`` the variance of
    counts over their mean: 1 for Poisson arrivals, more for clumped ones, less for regular ones.
    """

    level: float = 0.0
    rates: Mapping[float, float] = field(default_factory=lambda: NO_RATES)
    dispersion: float = 1.0


NO_DEMAND = Estimate()


def planned_demand(
    rate: float, dispersion: float, slo: float, settings: PlannerSettings, headroom: float | None = None
) -> float:
    """headroom * d + sigma * sqrt(dispersion * d / (SLO / 2)), in queries per second.

    ``headroom`` is the application's own, the settings' if None.

    The square root covers what random arrivals add within the time a query may wait; a larger proportional margin
    would be too much for large applications and too little for small ones.
    """
    own = settings.headroom if headroom is None else headroom
    return own * rate + settings.sigma * math.sqrt(dispersion * rate / (slo / 2))
