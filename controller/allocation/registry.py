"""The allocation policies a cluster file may name. Each turns a planning case into a solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tidewise.controller.allocation.solve import solve
from tidewise.core.case import Case
from tidewise.core.errors import ConfigError
from tidewise.core.solution import Solution

Allocate = Callable[[Case], Solution]

POLICIES: Mapping[str, Allocate] = {
    "ilp": solve,  # the exact planner, whichever solver suits the size
    "highs": partial(solve, method="highs"),
    "pulp": partial(solve, method="pulp"),
    "fast": partial(solve, method="fast"),  # linear relaxation, rounding, local search
}


def policy(name: str) -> Allocate:
    """The policy of this name. Raises ConfigError."""
    if name not in POLICIES:
        raise ConfigError(f"allocation policy {name!r} is unknown; choose one of {', '.join(POLICIES)}")
    return POLICIES[name]
