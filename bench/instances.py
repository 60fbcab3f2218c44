"""Synthetic planning cases in the likeness of published model families and device types.

Each application has a ladder of variants whose latency spans a factor of 3 to 40; faster device types speed each
family up by its own factor and hold less or more memory; demand follows a Zipf law over the applications.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidewise.core.case import Case, CaseApplication, CaseVariant

PUBLISHED_FAMILIES = (
    5,
    4,
    4,
    8,
    4,
    5,
    12,
    5,
    4,
)  # variants of the nine families of the published testbed: 51
BATCHES = 2.0 ** np.arange(8)
MEMORY = (2, 8, 11, 16, 24, 32, 40, 80)  # GB of a device, by how fast its type is


@dataclass(frozen=True, slots=True)
class Size:
    """How large an instance is."""

    devices: int
    types: int
    applications: int
    variants: int

    def __str__(self) -> str:
        return f"{self.devices}/{self.types}/{self.applications}/{self.variants}"


SIZES = (
    Size(40, 3, 9, 51),
    Size(160, 3, 17, 450),
    Size(1_000, 8, 17, 450),
    Size(10_000, 8, 17, 450),
    Size(100_000, 20, 60, 1_000),
)


def instance(size: Size, seed: int) -> Case:
    """A case whose demands (summing to 1 query per second) are shares still to be scaled."""
    random = np.random.default_rng(seed)
    ladders = [_ladder(random, count) for count in _family_sizes(size)]
    budget = [2 * latency.min() * random.uniform(1, 3) for _, latency, _ in ladders]
    capacity = _capacities(random, size, ladders, budget)
    share = random.permutation(1 / np.arange(1, size.applications + 1) ** 1.1)
    names = [[f"a{a:02d}-v{k:02d}" for k in range(len(ladder[0]))] for a, ladder in enumerate(ladders)]
    return Case(
        device_types={f"t{t:02d}": n for t, n in enumerate(device_counts(size, seed))},
        applications={f"a{a:02d}": CaseApplication(float(d)) for a, d in enumerate(share / share.sum())},
        variants={
            name: CaseVariant(f"a{a:02d}", float(accuracy))
            for a, ladder in enumerate(ladders)
            for name, accuracy in zip(names[a], ladder[0], strict=True)
        },
        capacity={
            f"t{t:02d}": {
                name: float(rate)
                for row, rates in zip(names, table, strict=True)
                for name, rate in zip(row, rates, strict=True)
                if rate > 0
            }
            for t, table in enumerate(capacity)
        },
    )


def device_counts(size: Size, seed: int) -> list[int]:
    """Devices of each type: half of them slow, the rest spread over the faster types."""
    if (size.devices, size.types) == (40, 3):
        return [20, 10, 10]
    random = np.random.default_rng(100 + seed)
    share = np.r_[0.5, np.full(size.types - 1, 0.5 / (size.types - 1)) * random.uniform(0.5, 1.5, size.types - 1)]
    counts = np.maximum(1, np.floor(share / share.sum() * size.devices).astype(int))
    counts[0] += size.devices - counts.sum()
    return [int(n) for n in counts]


def _family_sizes(size: Size) -> list[int]:
    if (size.applications, size.variants) == (9, 51):
        return list(PUBLISHED_FAMILIES)
    base, extra = divmod(size.variants, size.applications)
    return [base + (a < extra) for a in range(size.applications)]


Ladder = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def _ladder(random: np.random.Generator, count: int) -> Ladder:
    """Accuracy (best = 1), latency in seconds of batch 1 on the slow type, and memory in GB of one family."""
    spread, ratio = random.uniform(0.08, 0.30), np.exp(random.uniform(np.log(3), np.log(40)))
    size = np.clip(np.linspace(0, 1, count) + random.normal(0, 0.15 / count, count), 0, 1)
    size.sort()
    size[0], size[-1] = 0, 1
    top = random.uniform(0.7, 0.95)
    accuracy = top - spread * top * (1 - size) ** random.uniform(1.2, 2.2)
    noise = np.r_[random.normal(0, 0.002, count - 1), 0]
    fastest = np.exp(random.normal(np.log(0.02), 0.8))
    latency = fastest * ratio**size * np.exp(random.normal(0, 0.05, count))
    memory = 0.1 * ratio ** (0.7 * size) * np.exp(random.normal(0, 0.3))
    return np.clip(accuracy / accuracy[-1] + noise, 0.3, 1), latency, memory


def _capacities(
    random: np.random.Generator, size: Size, ladders: list[Ladder], budget: list[float]
) -> list[list[NDArray[np.float64]]]:
    """Queries per second by device type, application and variant: the best batch / latency within half the SLO."""
    table = []
    for t in range(size.types):
        speed = t / max(size.types - 1, 1)
        fixed = 0.1 + 0.65 * min(1.0, speed * 2)
        faster = 1.0 if t == 0 else np.exp(random.uniform(np.log(4), np.log(25)))
        family = np.exp(random.normal(0, 0.35, size.applications))
        memory = MEMORY[min(7, round(1 + speed * 6))] if t else 6
        table.append(
            [
                _rates(random, ladder, budget[a] / 2, fixed, faster * family[a], memory)
                for a, ladder in enumerate(ladders)
            ]
        )
    return table


def _rates(
    random: np.random.Generator, ladder: Ladder, budget: float, fixed: float, speed: float, memory: float
) -> NDArray[np.float64]:
    _, latency, needs = ladder
    rates = np.zeros(len(latency))
    for v, base in enumerate(latency):
        if needs[v] * 1.3 > memory:
            continue
        batch = base * (fixed + (1 - fixed) * BATCHES) / (speed * np.exp(random.normal(0, 0.08)))
        rates[v] = np.max(BATCHES / batch, where=batch <= budget, initial=0.0)
    return np.round(rates, 3)
