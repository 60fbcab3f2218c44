"""The scenario plan: families placed for several weighted demands at once, variants as the recourse.

Integers m_ta: devices of kind t that hold family a. In every scenario s, with demand d_sa in all D_s, device time
u_stav >= 0 goes to the variants v of the hull; beta_s is the worst-served fraction, y_ta >= m_ta - current_ta:

    max  sum_s p_s [ (1 / D_s) sum_tav w_a A_v P_tv u_stav + fairness beta_s ] - swap_cost sum_ta y_ta
    s.t. sum_a m_ta <= N_t;  sum_v u_stav <= m_ta;  beta_s d_sa <= sum_tv P_tv u_stav <= d_sa;  0 <= beta_s <= 1

The integers are as few as kinds times applications, whatever the number of devices.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tidewise.controller.allocation.hull import hull
from tidewise.controller.allocation.linear import INFINITY, Effort, LinearModel
from tidewise.controller.allocation.problem import Floats, Ints
from tidewise.core.errors import SolverError
from tidewise.core.scenario import FamilyPlan, ScenarioCase

LEAST_DEMAND = 1e-3  # queries per second, so that shares of demand are defined
_Number = TypeVar("_Number", int, float)
TIDY = 1e-7  # objective a device must earn to be used at all


@dataclass(frozen=True, slots=True, eq=False)
class _Arrays:
    """F families (kind, application) and V pairs (kind, variant of the hull); demand is scenarios by applications."""

    kinds: tuple[str, ...]
    applications: tuple[str, ...]
    families: tuple[tuple[str, str], ...]
    pairs: tuple[tuple[str, str], ...]
    family_kind: Ints
    pair_family: Ints
    pair_application: Ints
    rate: Floats
    accuracy: Floats
    value: Floats
    demand: Floats
    weight: Floats


def solve_scenarios(case: ScenarioCase, effort: Effort | None = None) -> FamilyPlan:
    """The best placement found, with a certified bound. Raises SolverError if none is found within the effort."""
    cpu, wall = time.process_time(), time.perf_counter()
    arrays = _arrays(case)
    if not arrays.families:
        return FamilyPlan({}, {}, dict.fromkeys(arrays.applications, 0.0), 0.0, 0.0)
    model, held, used = _model(case, arrays)
    outcome = model.solve(effort or Effort(gap=2e-3))
    if outcome.x is None:
        raise SolverError("the scenario plan found no placement within its limits")
    counts = np.round(outcome.x[held]).astype(int)
    busy = np.array([outcome.x[columns] for columns in used])
    return FamilyPlan(
        counts=_nested(arrays.families, [int(n) for n in counts]),
        busy=_nested(arrays.pairs, [float(n) for n in arrays.weight @ busy]),
        served=_served(arrays, busy),
        objective=float(outcome.objective),
        bound=float(max(outcome.bound, outcome.objective)),
        wall=time.perf_counter() - wall,
        cpu=time.process_time() - cpu,
    )


def _arrays(case: ScenarioCase) -> _Arrays:
    asked = sorted({name for one in case.scenarios for name in one.demand})
    kinds = tuple(kind for kind, count in case.device_types.items() if count > 0)
    accuracy = {name: one.accuracy for name, one in case.variants.items()}
    ladders = {(kind, name): hull(_rates(case, kind, name), accuracy) for kind in kinds for name in asked}
    families = tuple(key for key, ladder in ladders.items() if ladder)
    applications = tuple(name for name in asked if any(family[1] == name for family in families))
    rungs = [(family, rung) for family in families for rung in ladders[family]]
    place = {name: index for index, name in enumerate(applications)}
    weights = np.array([one.weight for one in case.scenarios], float)
    rate = np.array([rung.rate for _, rung in rungs])
    found = np.array([rung.accuracy for _, rung in rungs])
    worth = np.array([case.weight.get(family[1], 1.0) for family, _ in rungs])
    return _Arrays(
        kinds=kinds,
        applications=applications,
        families=families,
        pairs=tuple((family[0], rung.variant) for family, rung in rungs),
        family_kind=np.array([kinds.index(kind) for kind, _ in families], np.int64),
        pair_family=np.array([families.index(family) for family, _ in rungs], np.int64),
        pair_application=np.array([place[family[1]] for family, _ in rungs], np.int64),
        rate=rate,
        accuracy=found,
        value=worth * found * rate,
        demand=np.array(
            [[max(one.demand.get(name, 0.0), LEAST_DEMAND) for name in applications] for one in case.scenarios]
        ),
        weight=weights / weights.sum(),
    )


def _rates(case: ScenarioCase, kind: str, application: str) -> dict[str, float]:
    row = case.capacity.get(kind, {})
    return {name: rate for name, rate in row.items() if case.variants[name].application == application}


def _model(case: ScenarioCase, arrays: _Arrays) -> tuple[LinearModel, Ints, list[Ints]]:
    """The program, the columns of the counts, and those of the device time in each scenario."""
    model = LinearModel()
    most = np.array([case.device_types[kind] for kind in arrays.kinds], float)
    held = model.columns(len(arrays.families), cost=-TIDY, high=most[arrays.family_kind], whole=True)
    room = model.rows(len(arrays.kinds), -INFINITY, most)
    model.put(room[arrays.family_kind], held, 1.0)
    used = [_scenario(case, model, arrays, held, index) for index in range(len(case.scenarios))]
    if case.swap_cost > 0:
        now = np.array([case.current.get(kind, {}).get(name, 0) for kind, name in arrays.families], float)
        gained = model.columns(len(held), cost=-case.swap_cost)
        rows = model.rows(len(held), -now, INFINITY)
        model.put(rows, gained, 1.0)
        model.put(rows, held, -1.0)
    return model, held, used


def _scenario(case: ScenarioCase, model: LinearModel, arrays: _Arrays, held: Ints, index: int) -> Ints:
    """One scenario's recourse; its columns of device time."""
    demand, weight = arrays.demand[index], arrays.weight[index]
    weighed = sum(d * case.weight.get(name, 1.0) for d, name in zip(demand, arrays.applications, strict=True))
    used = model.columns(len(arrays.pairs), cost=weight * arrays.value / weighed)
    within = model.rows(len(held), -INFINITY, 0.0)
    model.put(within[arrays.pair_family], used, 1.0)
    model.put(within, held, -1.0)
    served = model.rows(len(demand), -INFINITY, demand)
    model.put(served[arrays.pair_application], used, arrays.rate)
    (least,) = model.columns(1, cost=weight * case.fairness, high=1.0)
    fair = model.rows(len(demand), 0.0, INFINITY)
    model.put(fair[arrays.pair_application], used, arrays.rate)
    model.put(fair, least, -demand)
    floor = np.array([case.floor.get(name, 0.0) for name in arrays.applications])
    if floor.any():
        accurate = model.rows(len(demand), 0.0, INFINITY)
        above = arrays.accuracy - floor[arrays.pair_application]
        model.put(accurate[arrays.pair_application], used, arrays.rate * above)
    return used


def _served(arrays: _Arrays, busy: Floats) -> dict[str, float]:
    carried = np.zeros(len(arrays.applications))
    np.add.at(carried, arrays.pair_application, arrays.rate * (arrays.weight @ busy))
    wanted = arrays.weight @ arrays.demand
    return dict(zip(arrays.applications, np.minimum(1.0, carried / wanted).tolist(), strict=True))


def _nested(keys: tuple[tuple[str, str], ...], values: list[_Number]) -> dict[str, dict[str, _Number]]:
    found: dict[str, dict[str, _Number]] = {}
    for (kind, name), value in zip(keys, values, strict=True):
        found.setdefault(kind, {})[name] = value
    return found
