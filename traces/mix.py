"""How demand is divided among applications."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tidewise.core.errors import TraceError


def zipf(names: Sequence[str], alpha: float = 1.001) -> dict[str, float]:
    """Weights proportional to rank ** -alpha over the names in the order given, summing to 1 (G. K. Zipf)."""
    return shares({name: float(rank) ** -alpha for rank, name in enumerate(names, start=1)})


def shares(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights as fractions that sum to 1. Raises TraceError on weights that cannot be."""
    for name, weight in weights.items():
        if not 0 <= weight < math.inf:
            raise TraceError(f"the weight of application {name!r} must be a number of at least 0, not {weight:g}")
    total = sum(weights.values())
    if not 0 < total < math.inf:
        raise TraceError("at least one application with a weight above 0 is needed")
    return {name: weight / total for name, weight in weights.items()}
