"""The macro scale: how many queries per second are wanted in each second of a trace.

A rate curve is an array of queries per second, one value a second. Curves are built by multiplying factors, so any of
them can be left out; randomness comes only from the generator handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidewise.core.errors import TraceError
from tidewise.traces.mix import shares

Rates = NDArray[np.float64]
Generator = np.random.Generator


@dataclass(frozen=True, slots=True)
class Spike:
    """A burst around ``at`` seconds: up to ``height`` times the curve beneath, rising and falling over ``width`` s."""

    at: float
    height: float
    width: float


def constant(seconds: int, rate: float) -> Rates:
    """The same rate in every second."""
    if seconds < 1:
        raise TraceError(f"a trace must last at least 1 second, not {seconds}")
    return np.full(seconds, float(rate))


def diurnal(seconds: int, low: float, high: float, cycles: float = 1.0, phase: float = 0.0) -> Rates:
    """A smooth tide between ``low`` and ``high``, ``cycles`` times over the trace, beginning at low water.

    ``phase`` (in cycles) moves it.
    """
    turn = 2 * np.pi * (cycles * _times(seconds) / seconds + phase)
    return constant(seconds, low) + (high - low) * (1 - np.cos(turn)) / 2


def with_spikes(rates: Rates, spikes: Sequence[Spike]) -> Rates:
    """The curve with bell-shaped bursts on top."""
    times = _times(len(rates))
    factor = np.ones(len(rates))
    for spike in spikes:
        factor += (spike.height - 1) * np.exp(-0.5 * ((times - spike.at) / spike.width) ** 2)
    return rates * factor


def with_drift(rates: Rates, change: float) -> Rates:
    """The curve growing (or, below 0, shrinking) steadily until it is ``1 + change`` times itself at the end."""
    return rates * np.linspace(1, max(0.0, 1 + change), len(rates))


def with_noise(rates: Rates, spread: float, memory: float, rng: Generator) -> Rates:
    """The curve times smooth log-normal noise: relative standard deviation ``spread``, forgotten over ``memory`` s.

    An Ornstein-Uhlenbeck process sampled each second, so the noise wanders instead of flickering.
    """
    keep = float(np.exp(-1 / memory))
    level = rng.normal()
    noise = np.empty(len(rates))
    for second, push in enumerate(rng.normal(size=len(rates)) * np.sqrt(1 - keep**2)):
        noise[second] = level
        level = keep * level + push
    return rates * np.exp(spread * noise - spread**2 / 2)


def with_peak(rates: Rates, peak: float) -> Rates:
    """The curve scaled so that its highest second is ``peak`` queries per second."""
    if rates.max() <= 0:
        raise TraceError("a rate curve that is zero everywhere cannot be scaled to a peak")
    return rates * (peak / float(rates.max()))


def tide(seconds: int, peak: float, rng: Generator) -> Rates:
    """The demonstration's curve, in the manner of a day of Twitter: two swells, a sharp spike, smooth noise.

    Quiet for about a third of the time; the swells reach about the same height; the spike stands between them.
    """
    swells = diurnal(seconds, low=0.35, high=1.0, cycles=2.0)
    spike = Spike(at=seconds * 0.5, height=2.6, width=max(0.6, seconds / 75))
    return with_peak(with_noise(with_spikes(swells, [spike]), 0.04, max(1.0, seconds / 15), rng), peak)


def split(rates: Rates, weights: Mapping[str, float]) -> dict[str, Rates]:
    """A curve for each application in proportion to its weight."""
    return {name: rates * share for name, share in shares(weights).items()}


def _times(seconds: int) -> Rates:
    return np.arange(seconds, dtype=np.float64) + 0.5
