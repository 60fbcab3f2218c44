"""From a scenario case to a checked scenario solution."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tidewise.controller.allocation import scenario_reference
from tidewise.controller.allocation.ceiling import ceilings
from tidewise.controller.allocation.hull import Rung
from tidewise.controller.allocation.linear import Effort, Outcome
from tidewise.controller.allocation.problem import Floats, Ints
from tidewise.controller.allocation.scenario import Placement, ScenarioTerms, evaluate, maximise, placement
from tidewise.controller.allocation.solve import solve
from tidewise.controller.allocation.warm import warm_set
from tidewise.core.errors import PlanError
from tidewise.core.scenario import ScenarioCase, ScenarioSolution, ScenarioValue
from tidewise.core.solution import Status

GAP = 2e-3
PROVEN = 1e-6
WarmSets = dict[str, dict[str, tuple[Rung, ...]]]


def plan_scenarios(
    asked: ScenarioCase, *, gap: float = GAP, terms: ScenarioTerms | None = None, method: str = "highs"
) -> ScenarioSolution:
    """The best families found and their warm sets, with a certified gap. Raises PlanError if no solver answers."""
    cpu, wall = time.process_time(), time.perf_counter()
    where = placement(asked, terms)
    best = scenario_reference.maximise if method == "pulp" else maximise
    outcome = best(where, Effort(gap))
    if outcome.x is None:
        raise PlanError("the scenario model found no placement within its work limit")
    families = np.round(outcome.x[: len(where.family_type)]).astype(np.int64)
    solution = _with_warm_sets(where, families, outcome)
    return replace(solution, cpu=time.process_time() - cpu, wall=time.perf_counter() - wall)


def plan_scenarios_fast(asked: ScenarioCase, terms: ScenarioTerms | None = None) -> ScenarioSolution:
    """The families of the fast plan of counts for the mean demand: no integer program, and a trivial bound."""
    cpu, wall = time.process_time(), time.perf_counter()
    where = placement(asked, terms)
    counts = solve(asked.case, method="fast").counts
    held = dict.fromkeys(zip(where.family_type.tolist(), where.family_application.tolist(), strict=True), 0)
    for t, device_type in enumerate(where.types):
        for variant, n in counts[device_type].items():
            family = t, where.applications.index(asked.case.variants[variant].application)
            if family in held:
                held[family] += n
    families = np.array(list(held.values()), np.int64)
    outcome = replace(evaluate(where, families), bound=where.probability.sum() + where.terms.floor)
    solution = _with_warm_sets(where, families, outcome)
    return replace(solution, cpu=time.process_time() - cpu, wall=time.perf_counter() - wall)


def _with_warm_sets(where: Placement, families: Ints, outcome: Outcome) -> ScenarioSolution:
    """The solution that holds these families, with the warm sets that the outcome's use of them suggests."""
    used = np.bincount(where.family_type, families, minlength=len(where.types))
    if (families < 0).any() or (used > where.devices).any():
        raise PlanError("the scenario solver planned devices that do not exist")
    warm, kept = _warm(where, families, outcome)
    return _solution(where, families, warm, evaluate(where, families, kept), outcome.bound)


def _use(where: Placement, outcome: Outcome) -> Floats:
    """(S, K) Busy devices in every scenario."""
    assert outcome.x is not None
    families, rungs, count = len(where.family_type), len(where.rungs), len(where.probability)
    return outcome.x[families : families + count * (rungs + 1)].reshape(count, rungs + 1)[:, :rungs]


def _warm(where: Placement, families: Ints, outcome: Outcome) -> tuple[WarmSets, Ints]:
    """The warm sets of the families held, and the rungs in them."""
    use = where.probability @ _use(where, outcome)
    warm: WarmSets = {name: {} for name in where.types}
    kept: list[int] = []
    for f in np.flatnonzero(families):
        device_type = where.types[where.family_type[f]]
        mine = np.flatnonzero(where.rung_family == f)
        rungs = [where.rungs[k] for k in mine]
        asked = where.asked
        chosen = warm_set(rungs, use[mine].tolist(), asked.memory, asked.warm_budget.get(device_type))
        warm[device_type][where.applications[where.family_application[f]]] = chosen
        kept += [int(k) for k in mine if where.rungs[k] in chosen]
    return warm, np.array(kept, np.int64)


def _solution(where: Placement, families: Ints, warm: WarmSets, value: Outcome, bound: float) -> ScenarioSolution:
    values = _values(where, _use(where, value))
    loads = int(np.maximum(families - where.current, 0).sum())
    objective = float(
        sum(
            p * (v.accuracy + where.terms.floor * v.least_served)
            for p, v in zip(where.probability, values, strict=True)
        )
    )
    objective -= where.swap_cost * loads + where.terms.replica * where.missing_replicas(families)
    bound = max(bound, objective)
    named = _named(where, families)
    served_all = all(one.least_served >= 1 - 1e-6 for one in values)
    proven = bound - objective <= PROVEN * abs(bound)
    return ScenarioSolution(
        status=(Status.OPTIMAL if proven else Status.FEASIBLE) if served_all else Status.OVERLOAD,
        objective=objective,
        bound=bound,
        families=named,
        warm={t: {a: tuple(r.variant for r in some) for a, some in row.items()} for t, row in warm.items()},
        counts=_counts(where, named, warm),
        values=values,
        loads=loads,
    )


def _values(where: Placement, use: Floats) -> tuple[ScenarioValue, ...]:
    """What every scenario serves and earns, recomputed from the busy devices."""
    application = where.family_application[where.rung_family]
    values = []
    for s, demand in enumerate(where.demand):
        served = np.bincount(application, use[s] * where.capacity, minlength=len(where.applications))
        fractions = served[demand > 0] / demand[demand > 0]
        values.append(
            ScenarioValue(
                weight=float(where.asked.weights[s]),
                accuracy=float(where.worth[s] @ use[s]),
                least_served=float(min(1.0, fractions.min(initial=1.0))),
                served=dict(zip(where.applications, np.minimum(served, demand).tolist(), strict=True)),
            )
        )
    return tuple(values)


def _named(where: Placement, families: Ints) -> dict[str, dict[str, int]]:
    named: dict[str, dict[str, int]] = {name: {} for name in where.types}
    for f in np.flatnonzero(families):
        named[where.types[where.family_type[f]]][where.applications[where.family_application[f]]] = int(families[f])
    return named


def _counts(where: Placement, families: Mapping[str, Mapping[str, int]], warm: WarmSets) -> dict[str, dict[str, int]]:
    """Devices by the ceiling they start with: what carries the weighted mean demand."""
    mean = where.probability @ where.demand
    counts: dict[str, dict[str, int]] = {name: {} for name in where.types}
    for a, application in enumerate(where.applications):
        devices = {name: row.get(application, 0) for name, row in families.items()}
        hulls = {name: row.get(application, ()) for name, row in warm.items()}
        for device_type, variant in ceilings(devices, hulls, float(mean[a])).items():
            counts[device_type][variant] = devices[device_type]
    return counts
