"""When a measurement has been repeated often enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 1.96  # standard deviations of the binomial: 95 %


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to measure one batch size.

    At least ``least`` runs; then until the median is known within ``precision`` (a fraction) or ``seconds`` have
    passed.
    """

    name: str
    least: int
    seconds: float
    precision: float


QUICK = Effort("quick", least=30, seconds=0.4, precision=0.05)
FULL = Effort("full", least=40, seconds=3.0, precision=0.02)
EFFORTS = (QUICK, FULL)  # the more thorough, the later


def uncertainty(latencies: Sequence[float]) -> float:
    """Half the 95 % confidence interval of the median, as a fraction of it.

    From order statistics (ranks n/2 -+ 0.98 sqrt n), so nothing is assumed about the distribution; infinite below six
    values, where no such interval exists.
    """
    count = len(latencies)
    if count < 6:
        return math.inf
    ordered = sorted(latencies)
    reach = CONFIDENCE * math.sqrt(count) / 2
    low, high = math.floor(count / 2 - reach), math.ceil(count / 2 + reach)
    width = ordered[min(count - 1, high)] - ordered[max(0, low)]
    return width / 2 / ordered[count // 2]


def enough(latencies: Sequence[float], elapsed: float, effort: Effort) -> bool:
    """Whether to stop: the spread has settled, or time is up (but never before six runs)."""
    if len(latencies) >= effort.least and uncertainty(latencies) <= effort.precision:
        return True
    return elapsed >= effort.seconds and len(latencies) >= 6
