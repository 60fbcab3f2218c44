"""Capacity: the queries per second a variant on a device type can be trusted with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidewise.core.profile import VariantProfile

# Of the SLO, what a batch may take; the rest is left for waiting while the batch before runs. Half in the papers
# (Clipper, NSDI 2017; Nexus, SOSP 2019); .55 gained up to 1.7 points of on-time accuracy where SLOs are tight, .6 less.
QUEUE_SHARE = 0.55


@dataclass(frozen=True, slots=True)
class Capacity:
    """Queries per second, reached at this batch size; (0, 0) where no batch size is fast enough."""

    rate: float
    batch: int


NONE = Capacity(0.0, 0)


def capacity(
    profile: VariantProfile,
    slo: float,
    memory: int | None = None,
    sizes: Sequence[int] = (),
    share: float = QUEUE_SHARE,
) -> Capacity:
    """The largest size / latency_p95(size) over batch sizes whose latency_p95 is at most ``share`` of the SLO.

    ``memory`` is what the device has, in bytes (None: enough). ``sizes`` limits the batch sizes that may run; any
    whole number up to the largest profiled one otherwise. Not always the largest batch: real profiles bend.
    """
    if memory is not None and profile.memory > memory:
        return NONE
    budget = slo * share
    fitting = (size for size in _candidates(profile, sizes) if profile.p95(size) <= budget)
    return max((Capacity(size / profile.p95(size), size) for size in fitting), key=_by_rate, default=NONE)


def _candidates(profile: VariantProfile, sizes: Sequence[int]) -> Iterator[int]:
    allowed = sizes or range(1, profile.max_batch + 1)
    return (size for size in allowed if size <= profile.max_batch)


def _by_rate(one: Capacity) -> tuple[float, int]:
    return one.rate, -one.batch
