"""How large the demo's demand must be for accuracy to give way, and only as far as the cheapest variants carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tidewise.controller.allocation.solve import solve
from tidewise.core.case import Case

TOP_FACTOR = 2.0  # the peak is this many times what the most accurate variants can carry
CHEAPEST_SHARE = 0.8  # and at most this share of what the cheapest can


@dataclass(frozen=True, slots=True)
class Scale:
    """Total queries per second, at one mix of applications, that the cluster carries with only its most accurate
    variants (``top``) and with any variants it likes (``cheapest``); ``peak`` is what the demo asks for."""

    top: float
    cheapest: float

    @property
    def peak(self) -> float:
        """The demo's peak demand in queries per second."""
        return min(TOP_FACTOR * self.top, CHEAPEST_SHARE * self.cheapest)


def scale(case: Case, mix: Mapping[str, float]) -> Scale:
    """What the case's devices carry at this mix (shares of demand by application, summing to 1)."""
    return Scale(top=carried(only_best(case), mix), cheapest=carried(case, mix))


def only_best(case: Case) -> Case:
    """The case with each application's most accurate variant alone."""
    best = {
        name: max((v for v in case.variants if case.variants[v].application == name), key=_accuracy(case))
        for name in case.applications
    }
    capacity = {kind: {v: q for v, q in row.items() if v in best.values()} for kind, row in case.capacity.items()}
    return replace(case, capacity=capacity)


def _accuracy(case: Case) -> Callable[[str], float]:
    return lambda variant: case.variants[variant].accuracy


def carried(case: Case, mix: Mapping[str, float]) -> float:
    """The largest total demand at this mix of which everything can be served.

    Found by asking for more than all devices together could do and reading off the fraction phi that is servable.
    """
    ceiling = sum(
        count * max(case.capacity.get(kind, {}).values(), default=0.0) for kind, count in case.device_types.items()
    )
    asked = max(1.0, 2 * ceiling)
    solution = solve(case.with_demand({name: share * asked for name, share in mix.items()}))
    return solution.phi * asked
