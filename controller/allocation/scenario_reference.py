"""The scenario model written to be read, in PuLP; tests hold the HiGHS model against it."""

from __future__ import annotations

import numpy as np
import pulp

from tidewise.controller.allocation.linear import Effort, Outcome
from tidewise.controller.allocation.reference import cbc
from tidewise.controller.allocation.scenario import Placement


def maximise(where: Placement, effort: Effort) -> Outcome:
    """The best families with CBC, its values in the order of scenario.scenario_model."""
    model = pulp.LpProblem("scenarios", pulp.LpMaximize)
    families, rungs, scenarios = range(len(where.family_type)), range(len(where.rungs)), range(len(where.demand))
    m = [pulp.LpVariable(f"m_{f}", 0, int(where.devices[where.family_type[f]]), pulp.LpInteger) for f in families]
    y = [pulp.LpVariable(f"y_{f}", 0) for f in families]
    u = [[pulp.LpVariable(f"u_{s}_{k}", 0) for k in rungs] for s in scenarios]
    beta = [pulp.LpVariable(f"beta_{s}", 0, 1) for s in scenarios]
    gain = pulp.lpSum(
        where.probability[s] * (pulp.lpSum(where.worth[s, k] * u[s][k] for k in rungs) + where.terms.floor * beta[s])
        for s in scenarios
    )
    z = [pulp.LpVariable(f"z_{a}", 0) for a in range(len(where.applications))]
    model += gain - where.swap_cost * pulp.lpSum(y) - where.terms.replica * pulp.lpSum(z)
    for a, replicas in enumerate(where.replicas.tolist()):
        model += z[a] >= replicas - pulp.lpSum(m[f] for f in families if where.family_application[f] == a)
    for t, devices in enumerate(where.devices):
        model += pulp.lpSum(m[f] for f in families if where.family_type[f] == t) <= int(devices)
    for f in families:
        model += y[f] >= m[f] - int(where.current[f])
    for s in scenarios:
        for f in families:
            model += pulp.lpSum(u[s][k] for k in rungs if where.rung_family[k] == f) <= m[f]
        for a, demand in enumerate(where.demand[s].tolist()):
            of_a = [k for k in rungs if where.family_application[where.rung_family[k]] == a]
            served = pulp.lpSum(where.rungs[k].capacity * u[s][k] for k in of_a)
            model += served <= demand
            if demand > 0:
                model += served >= demand * beta[s]
    model.solve(cbc(effort))
    if model.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        return Outcome(None, -np.inf, np.inf, model.status == pulp.LpStatusInfeasible, np.zeros(0), np.zeros(0))
    columns = m + [one for s in scenarios for one in (*u[s], beta[s])]
    objective = float(pulp.value(model.objective))
    bound = objective / (1 - effort.gap) if model.sol_status == pulp.LpSolutionOptimal else np.inf
    x = np.array([one.value() or 0.0 for one in columns])
    return Outcome(x, objective, bound, False, np.zeros(0), np.zeros(0))
