"""The micro scale: where within the seconds the queries fall.

Gaps between arrivals have mean 1 in units of expected arrivals; their coefficient of variation (CV, standard deviation
over mean) sets the clumping: 0 uniform, 1 Poisson, above 1 Gamma gaps in bursts (shape 1 / CV**2; 4.47 is shape .05).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tidewise.core.errors import TraceError
from tidewise.core.trace import Trace
from tidewise.traces.rates import Generator, Rates

UNIFORM = 0.0
POISSON = 1.0

Counts = NDArray[np.int64]
Times = NDArray[np.float64]


def renewal(rates: Rates, cv: float, rng: Generator) -> Times:
    """Arrival times of a renewal process whose rate follows the curve (seconds, ascending).

    Gaps are drawn at unit rate and mapped through the inverse of the curve's integral, so the clumping is the same at
    high and low demand. Started long before time 0, so that the first seconds are like any other.
    """
    _check_cv(cv)
    expected = np.concatenate(([0.0], np.cumsum(rates)))
    total = float(expected[-1])
    points = _unit_points(total, cv, rng)
    return np.asarray(np.interp(points, expected, np.arange(len(expected), dtype=np.float64)))


def _unit_points(total: float, cv: float, rng: Generator) -> Times:
    if cv == UNIFORM:
        return np.arange(rng.random(), total, 1.0)
    burn_in = 20 * cv**2 * rng.uniform(1, 2)
    points = np.empty(0)
    end = -burn_in
    while end < total:
        many = int(total - end + 10 * cv * np.sqrt(total - end + 1)) + 16
        more = end + np.cumsum(_gaps(many, cv, rng))
        points = np.concatenate((points, more))
        end = float(more[-1])
    return points[(points >= 0) & (points < total)]


def placed(counts: Counts, cv: float, rng: Generator) -> Times:
    """Exactly ``counts[s]`` arrivals within each second s, clumped by ``cv`` (seconds, ascending).

    The gaps of a second are drawn and stretched to fill it; with CV 1 that is a Poisson process given its counts.
    """
    _check_cv(cv)
    if counts.size and counts.min() < 0:
        raise TraceError(f"second {int(np.argmin(counts))} has {int(counts.min())} arrivals; counts must be 0 or more")
    second = np.repeat(np.arange(len(counts)), counts)
    if cv == UNIFORM:
        return np.asarray(second + (_rank(counts) + 0.5) / np.repeat(counts, counts))
    gaps = _gaps(int(counts.sum()) + len(counts), cv, rng)  # one more than arrivals in every second
    owner = np.repeat(np.arange(len(counts)), counts + 1)
    reached = np.cumsum(gaps)
    first = np.cumsum(counts + 1) - (counts + 1)
    start = reached[first] - gaps[first]
    length = np.maximum(np.add.reduceat(gaps, first), np.finfo(np.float64).tiny)
    within = (reached - start[owner]) / length[owner]
    inner = np.ones(len(gaps), dtype=np.bool_)
    inner[np.cumsum(counts + 1) - 1] = False  # the last gap of a second ends at its end, not at an arrival
    return np.asarray(second + np.clip(within[inner], 0, 1 - 1e-9))


def _gaps(many: int, cv: float, rng: Generator) -> Times:
    shape = cv**-2
    return rng.gamma(shape, 1 / shape, size=many)


def _rank(counts: Counts) -> Counts:
    """0, 1, ... within each second."""
    starts = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) - np.repeat(starts, counts)


def _check_cv(cv: float) -> None:
    if not (cv == UNIFORM or 0.01 <= cv <= 20):
        raise TraceError(f"the coefficient of variation must be 0 (uniform) or within 0.01 and 20, not {cv:g}")


def generate(rates: Mapping[str, Rates], deadlines: Mapping[str, float], cv: float, rng: Generator) -> Trace:
    """A trace from one rate curve for each application, with each one's deadline in seconds."""
    return joined({name: renewal(curve, cv, rng) for name, curve in rates.items()}, deadlines)


def fill(counts: Mapping[str, Counts], deadlines: Mapping[str, float], cv: float, rng: Generator) -> Trace:
    """A trace with exactly these arrivals per second of each application."""
    return joined({name: placed(one, cv, rng) for name, one in counts.items()}, deadlines)


def joined(arrivals: Mapping[str, Times], deadlines: Mapping[str, float]) -> Trace:
    """One trace of several applications' arrival times. Raises TraceError if one has no deadline or none arrive."""
    for name in arrivals:
        if name not in deadlines:
            raise TraceError(f"application {name!r} has no deadline; give one")
    names = [name for name, times in arrivals.items() if len(times)]
    if not names:
        raise TraceError("the trace would hold no arrivals; raise the rate or the length")
    times = np.concatenate([arrivals[name] for name in names])
    order = np.argsort(times, kind="stable")
    applications = np.repeat(np.array(names, dtype=object), [len(arrivals[name]) for name in names])[order]
    deadline = np.concatenate([np.full(len(arrivals[name]), deadlines[name]) for name in names])[order]
    return Trace.of(times[order], applications.tolist(), deadline)
