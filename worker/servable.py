"""A variant as its device can run it: which batch sizes, and how long each takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tidewise.core.application import Application, Variant
from tidewise.core.capacity import QUEUE_SHARE, capacity
from tidewise.core.errors import PlanError
from tidewise.core.profile import VariantProfile

ALIKE = 1e-6  # relative difference of rates that does not count


class Model(NamedTuple):
    """One model file under the name it serves; a changed file is another model."""

    application: str
    variant: str
    digest: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Servable:
    """A variant with its allowed batch sizes, ascending, and the time each number of rows takes.

    ``padded[rows]`` is the size that ``rows`` run at, ``latency[rows]`` the seconds that takes (95th percentile), both
    for rows from 0 to ``cap``, the largest batch; it never falls as rows rise. ``rate`` is the rows per second then.
    ``brisk[rows]`` is how many of so many waiting rows make the batch with the most rows per second: 4 of 5, say, where
    5 would be padded to a slow 8.
    """

    model: Model
    version: int
    sizes: tuple[int, ...]
    padded: tuple[int, ...]
    latency: tuple[float, ...]
    memory: int = 0
    brisk: tuple[int, ...] = ()
    cap: int = field(init=False)
    rate: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cap", self.sizes[-1])
        object.__setattr__(self, "rate", self.sizes[-1] / self.latency[-1])

    def span(self, rows: int) -> float:
        """Seconds for any number of rows, run as largest batches and a rest."""
        if rows < len(self.latency):
            return self.latency[rows]
        full, rest = divmod(rows, len(self.latency) - 1)
        return full * self.latency[-1] + self.latency[rest]


def servable(
    application: Application, variant: Variant, profile: VariantProfile, share: float = QUEUE_SHARE
) -> Servable:
    """The variant as this profile measured it; a batch may take ``share`` of the SLO.

    The largest batch is the one that gives the profile its capacity, so what was planned is what runs. A variant too
    slow for that runs one smallest batch at a time. Raises PlanError if no allowed size was profiled.
    """
    allowed = _allowed(variant, profile)
    best = capacity(profile, application.slo, sizes=allowed, share=share).batch
    sizes = tuple(size for size in allowed if size <= best) or allowed[:1]
    return tabulated(
        Model(application.name, variant.name, variant.digest),
        {size: profile.p95(size) for size in sizes},
        version=variant.version,
        memory=profile.memory,
    )


def _allowed(variant: Variant, profile: VariantProfile) -> tuple[int, ...]:
    """The variant's own batch sizes as far as they were profiled, or every size up to the largest profiled."""
    if not variant.batch_sizes:
        return tuple(range(1, profile.max_batch + 1))
    stated = tuple(size for size in variant.batch_sizes if size <= profile.max_batch)
    if not stated:
        raise PlanError(
            f"variant {variant.name!r} of {profile.application!r} runs only at batch sizes {variant.batch_sizes}, but"
            f" device type {profile.device_type!r} was profiled up to {profile.max_batch}; profile it again"
        )
    return stated


def tabulated(model: Model, latencies: Mapping[int, float], version: int = 1, memory: int = 0) -> Servable:
    """A servable from seconds by allowed batch size; fewer rows are padded to the fastest size that holds them."""
    sizes = tuple(sorted(latencies))
    padded = tuple(_fastest(rows, latencies) for rows in range(1, sizes[-1] + 1))
    taken = (0.0, *(latencies[size] for size in padded))
    return Servable(model, version, sizes, (0, *padded), taken, memory, _brisk(taken))


def _fastest(rows: int, latencies: Mapping[int, float]) -> int:
    return min((size for size in latencies if size >= rows), key=lambda size: (latencies[size], size))


def _brisk(latency: Sequence[float]) -> tuple[int, ...]:
    best = [0, *range(1, len(latency))]
    for rows in range(2, len(latency)):
        before = best[rows - 1]
        if before / latency[before] > rows / latency[rows] * (1 + ALIKE):
            best[rows] = before
    return tuple(best)
