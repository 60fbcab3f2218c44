"""The margin over demand gives way before any query is shed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tidewise.core.case import Case
from tidewise.core.solution import Solution, Status

STEPS = (1.0, 0.5)  # fractions of the margin tried before none


def with_margin(case: Case, solve: Callable[[Case], Solution]) -> Solution:
    """The solution at the largest of these margins at which all demand is served, else for the demand alone."""
    for step in STEPS:
        solution = _solved(case, step, solve)
        if solution.status is not Status.OVERLOAD:
            return solution
    return _solved(case, 0.0, solve)


def _solved(case: Case, margin: float, solve: Callable[[Case], Solution]) -> Solution:
    planned = {name: one.demand * (1 + margin * (one.headroom - 1)) for name, one in case.applications.items()}
    bare = {name: replace(one, headroom=1.0) for name, one in case.applications.items()}
    solution = solve(replace(case, applications=bare).with_demand(planned))
    return replace(solution, planned=planned)
