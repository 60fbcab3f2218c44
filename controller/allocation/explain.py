"""Why a plan is as it is: what one more device would be worth, and what would remove a shortfall."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tidewise.controller.allocation.envelope import envelope
from tidewise.controller.allocation.fast import common_fraction
from tidewise.controller.allocation.feasible import find_plan
from tidewise.controller.allocation.goal import Goal
from tidewise.controller.allocation.highs import relaxed
from tidewise.controller.allocation.linear import INFINITY, LinearModel
from tidewise.controller.allocation.problem import Problem, build, restrict
from tidewise.core.case import Case
from tidewise.core.solution import Solution, Status

TRIES = (2.0, 1.6, 1.25, 1.1, 1.0)  # times the relaxation's number of devices, while a plan is found
MOST_DEVICES = 1_000  # beyond, whole devices add up nearly as the relaxation has it, and a try takes long


@dataclass(frozen=True, slots=True)
class Explanation:
    """Prices and remedies of a solution.

    ``prices`` is what one more device of each type adds in the linear relaxation: to phi where it cannot serve all
    demand (then ``of_phi``), else to the objective. ``least`` is how many more devices of one type alone it takes at
    least to serve all servable demand, ``enough`` with how many a plan was found that does (not the fewest, perhaps);
    a type that cannot help alone is absent. ``hopeless`` are the applications no device can serve within their floor.
    """

    prices: Mapping[str, float]
    of_phi: bool
    least: Mapping[str, int]
    enough: Mapping[str, int]
    hopeless: tuple[str, ...]


def explain(case: Case, solution: Solution) -> Explanation:
    """The explanation of a solution of the case."""
    problem = build(case.with_demand(solution.planned))
    wanting = [name for name, one in case.applications.items() if one.demand > 0]
    servable = {name for name, yes in zip(problem.applications, problem.servable, strict=True) if yes}
    hopeless = tuple(name for name in wanting if name not in servable)
    if not len(problem.capacity):
        return Explanation(dict.fromkeys(case.device_types, 0.0), bool(hopeless), {}, {}, hopeless)
    short = common_fraction(problem) < 1 - 1e-9
    least = _least(problem) if solution.status is Status.OVERLOAD else {}
    return Explanation(_prices(problem, short), short, least, _enough(problem, least), hopeless)


def _prices(problem: Problem, short: bool) -> dict[str, float]:
    """What one more device of each type adds. (Not the dual: at a corner it may belong to one device less.)"""

    def value(one: Problem) -> float:
        return common_fraction(one) if short else relaxed(one, Goal()).objective

    now = value(problem)
    return {name: max(0.0, value(_with_more(problem, t, 1)) - now) for t, name in enumerate(problem.types)}


def _with_more(problem: Problem, t: int, more: int) -> Problem:
    return replace(problem, devices=problem.devices + more * (np.arange(len(problem.types)) == t))


def _least(problem: Problem) -> dict[str, int]:
    """For each type alone, the fewest devices to add so that the relaxation serves all servable demand."""
    needed = {name: _missing_devices(problem, t) for t, name in enumerate(problem.types)}
    return {name: math.ceil(more - 1e-6) for name, more in needed.items() if more is not None}


def _enough(problem: Problem, least: Mapping[str, int]) -> dict[str, int]:
    """For each type alone, the least of a few numbers of devices with which a plan is found."""
    found = {}
    for name, lowest in least.items() if problem.devices.sum() <= MOST_DEVICES else ():
        for factor in TRIES:
            number = math.ceil(max(1, lowest) * factor)
            if find_plan(_with_more(problem, problem.types.index(name), number)) is None:
                break
            found[name] = number
    return found


def _missing_devices(problem: Problem, t: int) -> float | None:
    """min x  s.t.  all servable demand is served with N_t + x devices of type t."""
    problem = restrict(problem, envelope(problem))
    model = LinearModel()
    busy = model.columns(len(problem.capacity))
    extra = model.columns(1, cost=-1.0)
    devices = model.rows(len(problem.types), -INFINITY, problem.devices)
    model.put(devices[problem.pair_type], busy, 1.0)
    model.put(devices[t], extra, -1.0)
    asked = problem.servable
    served = model.rows(len(asked), np.where(asked, 1.0, 0.0), INFINITY)
    share = problem.capacity / np.where(asked, problem.demand, 1.0)[problem.pair_application]
    model.put(served[problem.pair_application], busy, share)
    outcome = model.solve()
    return None if outcome.x is None else -outcome.objective
