"""The scenario plan: which family each device holds warm, best over several weighted demands.

Loading a family costs seconds, choosing among its warm variants nothing. So the placement m (devices of type t that
hold application a) is made once for all scenarios, the variants are recourse in each:

    max   sum_s p_s [ sum_tav w_a A_v P_tv u_stav / sum_a w_a d_sa + floor beta_s ]
          -  swap_cost sum_ta y_ta  -  replica sum_a z_a
    s.t.  sum_a m_ta <= N_t,   sum_v u_stav <= m_ta,   beta_s d_sa <= sum_tv P_tv u_stav <= d_sa,
          y_ta >= m_ta - current_ta,   z_a >= replicas_a - sum_t m_ta,   0 <= beta_s <= 1,   m whole

with v from the hull of (t, a), of the variants at the application's accuracy floor or above: which of its warm variants
a device answers with is its own choice, so that none may be below. Only T x A whole numbers, whatever the number of
devices and scenarios.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidewise.controller.allocation.hull import Rung, hull
from tidewise.controller.allocation.linear import INFINITY, Effort, LinearModel, Outcome
from tidewise.controller.allocation.problem import Floats, Ints
from tidewise.core.scenario import ScenarioCase


@dataclass(frozen=True, slots=True)
class ScenarioTerms:
    """What counts besides accuracy.

    ``floor`` is what the worst served fraction is worth. ``reload_cost`` is the objective given up when every device
    loads another family; a single load costs its share of that, at most what it costs among ``fewest`` devices. A
    cluster that holds nothing yet pays nothing. ``replica`` is given up for a device that an application lacks of its
    minimum: more than accuracy usually gains by a device, less than what one is worth to an application in need.
    """

    floor: float = 0.1
    reload_cost: float = 0.02
    fewest: int = 20
    replica: float = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """The arrays of a scenario case: F families (type, application), K rungs (family, hull variant), S scenarios."""

    asked: ScenarioCase
    types: tuple[str, ...]
    applications: tuple[str, ...]
    devices: Ints  # (T)
    demand: Floats  # (S, A)
    weight: Floats  # (A)
    probability: Floats  # (S) summing to 1
    family_type: Ints  # (F)
    family_application: Ints  # (F)
    current: Ints  # (F)
    replicas: Ints  # (A) least number of devices
    rung_family: Ints  # (K)
    rungs: tuple[Rung, ...]  # (K)
    terms: ScenarioTerms

    @property
    def swap_cost(self) -> float:
        """Objective given up per family loaded."""
        return self.terms.reload_cost / max(int(self.devices.sum()), self.terms.fewest) if self.current.any() else 0.0

    def missing_replicas(self, families: Ints) -> int:
        """How many devices the applications lack of their minimum."""
        held = np.bincount(self.family_application, families, minlength=len(self.applications))
        return int(np.maximum(self.replicas - held, 0).sum())

    @property
    def capacity(self) -> Floats:
        """(K) Queries per second of a device."""
        return np.array([rung.capacity for rung in self.rungs])

    @property
    def scale(self) -> Floats:
        """(S) Weighted demand of each scenario, what its accuracy is divided by."""
        scale: Floats = self.demand @ self.weight
        return np.where(scale > 0, scale, 1.0)

    @property
    def worth(self) -> Floats:
        """(S, K) What a busy device earns in each scenario, before its probability."""
        accuracy = np.array([rung.accuracy for rung in self.rungs])
        weight = self.weight[self.family_application[self.rung_family]] if len(self.rungs) else np.zeros(0)
        worth: Floats = (weight * accuracy * self.capacity)[None, :] / self.scale[:, None]
        return worth


def placement(asked: ScenarioCase, terms: ScenarioTerms | None = None) -> Placement:
    """The arrays of a scenario case; families without a useful variant or without demand are left out."""
    case, applications, types = asked.case, tuple(asked.case.applications), tuple(asked.case.device_types)
    demand = np.array([[row.get(a, 0.0) for a in applications] for row in asked.demands], float)
    held = asked.families()
    families: list[tuple[int, int, int]] = []
    rungs: list[Rung] = []
    rung_family: list[int] = []
    for t, device_type in enumerate(types):
        for a, application in enumerate(applications):
            useful = hull(_rungs(asked, device_type, application))
            wanted = demand[:, a].any() or case.applications[application].min_replicas > 0
            if useful and wanted and case.device_types[device_type]:
                rungs += useful
                rung_family += [len(families)] * len(useful)
                families.append((t, a, held[device_type].get(application, 0)))
    table = np.array(families, np.int64).reshape(-1, 3)
    probability = np.array(asked.weights, float)
    return Placement(
        asked=asked,
        types=types,
        applications=applications,
        devices=np.array([case.device_types[name] for name in types], np.int64),
        demand=demand,
        weight=np.array([case.applications[name].weight for name in applications], float),
        probability=probability / probability.sum(),
        family_type=table[:, 0],
        family_application=table[:, 1],
        current=table[:, 2],
        replicas=np.array([case.applications[name].min_replicas for name in applications], np.int64),
        rung_family=np.array(rung_family, np.int64),
        rungs=tuple(rungs),
        terms=terms or ScenarioTerms(),
    )


def _rungs(asked: ScenarioCase, device_type: str, application: str) -> list[Rung]:
    rates = asked.case.capacity.get(device_type, {})
    budget = asked.warm_budget.get(device_type)
    floor = asked.case.applications[application].min_accuracy
    return [
        Rung(name, rates.get(name, 0.0), variant.accuracy)
        for name, variant in asked.case.variants.items()
        if variant.application == application
        and variant.accuracy >= floor
        and (budget is None or asked.memory.get(name, 0) <= budget)
    ]


def maximise(where: Placement, effort: Effort) -> Outcome:
    """The best families; the first F values of the outcome are m."""
    return scenario_model(where).solve(effort)


def evaluate(where: Placement, families: Ints, warm: Ints | None = None) -> Outcome:
    """The recourse alone: the value of given families (F), with only the rungs in ``warm`` (indices) if given."""
    return scenario_model(where, families, warm).solve()


def scenario_model(where: Placement, families: Ints | None = None, warm: Ints | None = None) -> LinearModel:
    """The model; columns are m (F), then for every scenario u (K) and beta, then y (F)."""
    model = LinearModel()
    free = families is None
    most = where.devices[where.family_type] if families is None else families
    held = model.columns(len(most), low=0.0 if families is None else families, high=most, whole=free)
    devices = model.rows(len(where.types), -INFINITY, where.devices)
    model.put(devices[where.family_type], held, 1.0)
    usable = np.ones(len(where.rungs)) if warm is None else np.isin(np.arange(len(where.rungs)), warm)
    for s in range(len(where.probability)):
        _add_scenario(model, where, s, held, np.where(usable, INFINITY, 0.0))
    if where.swap_cost > 0:
        loads = model.columns(len(held), cost=-where.swap_cost, high=where.devices[where.family_type])
        rows = model.rows(len(held), -where.current, INFINITY)
        model.put(rows, loads, 1.0)
        model.put(rows, held, -1.0)
    if where.replicas.any():
        missing = model.columns(len(where.replicas), cost=-where.terms.replica)
        rows = model.rows(len(where.replicas), where.replicas, INFINITY)
        model.put(rows, missing, 1.0)
        model.put(rows[where.family_application], held, 1.0)
    return model


def _add_scenario(model: LinearModel, where: Placement, s: int, held: Ints, most: Floats) -> None:
    """Busy devices u and the worst served fraction beta of one scenario, and what binds them to the families."""
    busy = model.columns(len(where.rungs), cost=where.probability[s] * where.worth[s], high=most)
    beta = model.columns(1, cost=where.probability[s] * where.terms.floor, high=1.0)
    within = model.rows(len(held), -INFINITY, 0.0)
    model.put(within[where.rung_family], busy, 1.0)
    model.put(within, held, -1.0)
    asked = np.flatnonzero(where.demand[s] > 0)
    row_of = np.full(len(where.applications), -1)
    row_of[asked] = model.rows(len(asked), -INFINITY, 1.0)
    application = where.family_application[where.rung_family]
    mine = row_of[application] >= 0
    share = where.capacity[mine] / where.demand[s][application[mine]]
    model.put(row_of[application[mine]], busy[mine], share)
    row_of[asked] = least = model.rows(len(asked), 0.0, INFINITY)
    model.put(row_of[application[mine]], busy[mine], share)
    model.put(least, beta, -1.0)
    model.put(model.rows(1, -INFINITY, 0.0), busy[~mine], 1.0)
