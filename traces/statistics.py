"""What a trace is like: arrivals, rates, clumping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidewise.core.trace import Floats, Trace

WINDOW = 0.1  # seconds whose arrivals are counted for the index of dispersion
STRETCH = 1.0  # seconds within which the rate is taken to be level


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures of one application, or of all together; rates in queries per second, peak over whole seconds.

    ``dispersion`` is None where fewer than two arrivals were seen.
    """

    arrivals: int
    duration: float
    mean_rate: float
    peak_rate: float
    dispersion: float | None


def per_second(trace: Trace, name: str | None = None) -> NDArray[np.int64]:
    """Arrivals in each whole second of the trace, of one application or of all; at least one second."""
    arrivals = trace.arrival if name is None else trace.arrivals_of(name)
    return np.bincount(np.floor(arrivals).astype(np.int64), minlength=int(np.floor(trace.duration)) + 1)


def dispersion(arrivals: Floats) -> float | None:
    """Index of dispersion: variance over mean of the arrivals in 0.1-s windows, pooled over stretches of 1 s.

    1 for a Poisson process, 0 for a regular one, above 1 for clumps. Pooling within stretches keeps the tide itself
    from counting as clumping.
    """
    if len(arrivals) < 2:
        return None
    each = round(STRETCH / WINDOW)
    windows = np.bincount(np.floor(arrivals / WINDOW).astype(np.int64))
    whole = np.pad(windows, (0, -len(windows) % each)).reshape(-1, each)
    if len(windows) % each and len(whole) > 1:  # a last stretch that is not full would be compared with silence
        whole = whole[:-1]
    mean = whole.mean(axis=1).sum()
    return float(whole.var(axis=1, ddof=1).sum() / mean) if mean else None


def statistics(trace: Trace, name: str | None = None) -> Statistics:
    """The figures of one application, or of the whole trace."""
    arrivals = trace.arrival if name is None else trace.arrivals_of(name)
    return Statistics(
        arrivals=len(arrivals),
        duration=trace.duration,
        mean_rate=len(arrivals) / trace.duration if trace.duration else 0.0,
        peak_rate=float(per_second(trace, name).max()),
        dispersion=dispersion(arrivals),
    )
