"""Traces made from traces: scaled, thinned, cut, repeated, renamed, joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tidewise.core.errors import TraceError
from tidewise.core.trace import Trace, checked
from tidewise.traces.rates import Generator
from tidewise.traces.statistics import per_second

Whole = NDArray[np.int64]


def thinned(trace: Trace, keep: float, rng: Generator) -> Trace:
    """Each arrival kept with probability ``keep``, independently: a Poisson process stays one."""
    if not 0 < keep <= 1:
        raise TraceError(f"the share of arrivals to keep must be above 0 and at most 1, not {keep:g}")
    return trace.select(rng.random(len(trace)) < keep)


def scaled(trace: Trace, peak_qps: float, rng: Generator) -> Trace:
    """The trace with its busiest second brought to ``peak_qps`` arrivals and every other second in proportion.

    Fractions of an arrival are rounded at random, so that quiet times are not rounded away. Dropped arrivals are
    chosen at random within their second; added ones repeat the second turned by a random part of it, as if more users
    of the same kind had come, which leaves clumps as they are and a Poisson process nearly one.
    """
    if not len(trace) or peak_qps <= 0:
        raise TraceError(f"a peak must be above 0 and the trace not empty; asked for {peak_qps:g} queries per second")
    second = np.floor(trace.arrival)
    copies = _copies(second.astype(np.int64), peak_qps / int(per_second(trace).max()), rng)
    index = np.repeat(np.arange(len(trace)), copies)
    copy = np.arange(len(index)) - np.repeat(np.cumsum(copies) - copies, copies)
    turns = rng.random((int(second[-1]) + 1, int(copies.max()) + 1))
    turns[:, 0] = 0.0
    start = second[index]
    moved = start + (trace.arrival[index] - start + turns[start.astype(np.int64), copy]) % 1.0
    order = np.argsort(moved, kind="stable")
    return replace(trace.select(index[order]), arrival=moved[order])


def _copies(second: Whole, factor: float, rng: Generator) -> Whole:
    """How often each arrival occurs, so that each second's total is its count times the factor, rounded at random."""
    counts = np.bincount(second)
    wanted = np.floor(counts * factor + np.where(counts == counts.max(), 0.5, rng.random(len(counts))))
    whole = int(factor)
    extra = wanted - whole * counts
    order = np.lexsort((rng.random(len(second)), second))
    rank = np.empty(len(second), dtype=np.int64)
    rank[order] = np.arange(len(second)) - (np.cumsum(counts) - counts)[second[order]]
    return np.asarray(whole + (rank < extra[second]), dtype=np.int64)


def cut(trace: Trace, start: float, end: float) -> Trace:
    """The arrivals within [start, end) seconds, counted from ``start``."""
    if not 0 <= start < end:
        raise TraceError(f"a cut needs 0 <= start < end, not {start:g} and {end:g}")
    part = trace.select((trace.arrival >= start) & (trace.arrival < end))
    return replace(part, arrival=part.arrival - start)


def repeated(trace: Trace, times: int, period: float | None = None) -> Trace:
    """The trace ``times`` times on end, each ``period`` seconds after the one before (whole seconds by default)."""
    step = np.floor(trace.duration) + 1 if period is None else period
    if times < 1 or step < trace.duration:
        raise TraceError(f"cannot repeat {trace.duration:g} s of trace {times} times every {step:g} s")
    return replace(
        trace,
        arrival=np.concatenate([trace.arrival + turn * step for turn in range(times)]),
        application=np.tile(trace.application, times),
        deadline=np.tile(trace.deadline, times),
    )


def renamed(trace: Trace, names: Mapping[str, str]) -> Trace:
    """The trace with applications renamed; two may take one name. Raises TraceError on a name it does not hold."""
    unknown = [name for name in names if name not in trace.names]
    if unknown:
        raise TraceError(f"the trace has no application {unknown[0]!r}; it has {', '.join(trace.names)}")
    called = [names.get(name, name) for name in trace.names]
    together = tuple(sorted(set(called)))
    codes = np.array([together.index(name) for name in called], dtype=np.int32)
    return checked(replace(trace, names=together, application=codes[trace.application]), "renamed trace")
