"""What an allocation policy's name in the cluster file stands for: which variants, which solver, planned how often."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tidewise.controller.allocation.solve import Limits, solve
from tidewise.controller.margin import with_margin
from tidewise.core.case import Case
from tidewise.core.errors import ConfigError
from tidewise.core.solution import Solution

Restrict = Callable[[Case], Case]


def every_variant(case: Case) -> Case:
    """No restriction."""
    return case


def most_accurate(case: Case) -> Case:
    """Only the most accurate variant of each application that some device can run in time (Clipper-HA)."""
    return _restricted(case, lambda name: case.variants[name].accuracy)


def least_accurate(case: Case) -> Case:
    """Only the least accurate one (Clipper-HT)."""
    return _restricted(case, lambda name: -case.variants[name].accuracy)


@dataclass(frozen=True, slots=True)
class AllocationPolicy:
    """``restrict`` limits the variants; ``method`` is a solver of controller/allocation, None for the cluster file's.

    A ``static`` policy does not follow demand: it plans when devices or applications change, and once more when it
    has first seen demand.
    """

    restrict: Restrict = every_variant
    method: str | None = None
    static: bool = False


POLICIES: Mapping[str, AllocationPolicy] = {
    "ilp": AllocationPolicy(),
    "highs": AllocationPolicy(method="highs"),
    "pulp": AllocationPolicy(method="pulp"),
    "fast": AllocationPolicy(method="fast"),
    "static": AllocationPolicy(static=True),
    "clipper-ha": AllocationPolicy(restrict=most_accurate, static=True),
    "clipper-ht": AllocationPolicy(restrict=least_accurate, static=True),
}


def allocation_policy(name: str) -> AllocationPolicy:
    """The policy of this name. Raises ConfigError."""
    if name not in POLICIES:
        raise ConfigError(f"allocation policy {name!r} is unknown; choose one of {', '.join(POLICIES)}")
    return POLICIES[name]


def allocate(case: Case, method: str, limits: Limits) -> Solution:
    """The solution of a case whose demand carries a margin; runs in the solver's process."""
    return with_margin(case, lambda one: solve(one, method=method, limits=limits))


def _restricted(case: Case, value: Callable[[str], float]) -> Case:
    able = {
        name for kind, row in case.capacity.items() if case.device_types[kind] for name, rate in row.items() if rate > 0
    }
    chosen = set()
    for application in case.applications:
        mine = [name for name in able if case.variants[name].application == application]
        chosen.update(sorted(mine, key=lambda name: (-value(name), name))[:1])
    return replace(
        case,
        variants={name: one for name, one in case.variants.items() if name in chosen},
        capacity={kind: {n: rate for n, rate in row.items() if n in chosen} for kind, row in case.capacity.items()},
        current={kind: {n: count for n, count in row.items() if n in chosen} for kind, row in case.current.items()},
    )
