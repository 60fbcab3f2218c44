"""Why a plan is as it is: what one more device would be worth, and what would remove a shortfall."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tidewise.controller.allocation.fast import common_fraction, relax
from tidewise.controller.allocation.goal import Aim, Goal
from tidewise.controller.allocation.highs import relaxed
from tidewise.controller.allocation.linear import INFINITY, LinearModel
from tidewise.controller.allocation.problem import Problem, build
from tidewise.core.case import Case
from tidewise.core.solution import Solution, Status


@dataclass(frozen=True, slots=True)
class Explanation:
    """Prices and remedies of a solution.

    ``prices`` is what one more device of each type adds: to the objective, or to phi under overload; as the linear
    relaxation prices it. ``remedies`` is how many more devices of one type alone would let all servable demand be
    served, in the relaxation (so at least that many); a type that cannot help alone is absent. ``hopeless`` are the
    applications no device can serve within their accuracy floor.
    """

    prices: Mapping[str, float]
    remedies: Mapping[str, int]
    hopeless: tuple[str, ...]


def explain(case: Case, solution: Solution) -> Explanation:
    """The explanation of a solution of the case."""
    problem = build(case.with_demand(solution.planned))
    wanting = [name for name, one in case.applications.items() if one.demand > 0]
    servable = {name for name, yes in zip(problem.applications, problem.servable, strict=True) if yes}
    hopeless = tuple(name for name in wanting if name not in servable)
    if not len(problem.capacity):
        return Explanation(dict.fromkeys(case.device_types, 0.0), {}, hopeless)
    short = solution.status is Status.OVERLOAD
    return Explanation(_prices(problem), _remedies(problem) if short else {}, hopeless)


def _prices(problem: Problem) -> dict[str, float]:
    """Price of a device of each type: of phi where the relaxation cannot serve all demand, else of the objective."""
    if common_fraction(problem) < 1 - 1e-9:
        duals = relaxed(problem, Goal(Aim.FRACTION)).duals[: len(problem.types)]
        prices = np.maximum(duals, 0.0)
    else:
        prices = relax(problem, problem.demand * problem.servable).prices
    return dict(zip(problem.types, prices.tolist(), strict=True))


def _remedies(problem: Problem) -> dict[str, int]:
    """For each type alone, the fewest devices to add so that the relaxation serves all servable demand."""
    needed = {}
    for t, name in enumerate(problem.types):
        more = _missing_devices(problem, t)
        if more is not None:
            needed[name] = math.ceil(more - 1e-6)
    return needed


def _missing_devices(problem: Problem, t: int) -> float | None:
    """min x  s.t.  all servable demand is served with N_t + x devices of type t."""
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
