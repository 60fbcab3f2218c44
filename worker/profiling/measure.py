"""Timing a loaded variant as a worker runs it: queries assembled, run, and split."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tidewise.core.profile import BatchLatency
from tidewise.worker.engine.base import Session
from tidewise.worker.profiling.effort import Effort, enough, uncertainty
from tidewise.worker.samples import Samples
from tidewise.worker.tensors import assemble, split

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Measured:
    """Latencies of one batch size, in the order they were taken, and whether their median settled."""

    size: int
    latencies: tuple[float, ...]
    settled: bool

    @property
    def summary(self) -> BatchLatency:
        """Median and 95th percentile."""
        p50, p95 = np.percentile(self.latencies, (50, 95))
        return BatchLatency(self.size, float(p50), float(p95))


def measure_sizes(
    session: Session,
    outputs: Sequence[str],
    samples: Samples,
    sizes: Sequence[int],
    effort: Effort,
    clock: Clock = time.perf_counter,
) -> list[Measured]:
    """Every batch size in turn, each repeated until its spread settles or its time is up. The session is warm."""
    return [measure_size(session, outputs, samples, size, effort, clock) for size in sizes]


def measure_size(
    session: Session, outputs: Sequence[str], samples: Samples, size: int, effort: Effort, clock: Clock
) -> Measured:
    """One batch size, of ``size`` queries of one row each."""
    queries = samples.queries(size)
    latencies: list[float] = []
    start = clock()
    while not enough(latencies, clock() - start, effort):
        latencies.append(time_batch(session, outputs, queries, clock))
    return Measured(size, tuple(latencies), uncertainty(latencies) <= effort.precision)


def time_batch(
    session: Session, outputs: Sequence[str], queries: Sequence[dict[str, np.ndarray]], clock: Clock
) -> float:
    """Seconds from queries to answers."""
    began = clock()
    answer = session.run(assemble(queries), outputs)
    split(answer, [1] * len(queries))
    return clock() - began


def time_in_turn(
    companion: Session,
    session: Session,
    outputs: Sequence[str],
    queries: Sequence[dict[str, np.ndarray]],
    rounds: int,
    clock: Clock = time.perf_counter,
) -> float:
    """Median seconds of a batch that always runs right after one of its companion's."""
    latencies = []
    for _ in range(rounds):
        time_batch(companion, outputs, queries, clock)
        latencies.append(time_batch(session, outputs, queries, clock))
    return float(np.median(latencies))
