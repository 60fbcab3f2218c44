"""The published per-device formulation: one Boolean per device and variant. Grows with the cluster; kept to compare.

max   sum_dk w_a A_k D_a z_dk / scale
s.t.  D_a z_dk <= P_k x_dk,   sum_k x_dk <= 1 for every device d,   sum_dk z_dk = 1 for every application
"""

from __future__ import annotations

import numpy as np

from tidewise.controller.allocation.goal import Aim, Answer, Goal
from tidewise.controller.allocation.linear import INFINITY, Effort, LinearModel
from tidewise.controller.allocation.problem import Ints, Problem


def maximise(problem: Problem, goal: Goal, effort: Effort | None = None) -> Answer:
    """Solve the per-device model; only the goal that serves all demand, without policy terms, is written here."""
    assert goal == Goal(Aim.ACCURACY)
    model, pair = per_device_model(problem)
    outcome = model.solve(effort)
    counts = None
    if outcome.x is not None:
        chosen = np.round(outcome.x[: len(pair)]).astype(np.int64)
        counts = np.bincount(pair, chosen, minlength=len(problem.capacity)).astype(np.int64)
    return Answer(counts, outcome.bound, outcome.infeasible)


def per_device_model(problem: Problem) -> tuple[LinearModel, Ints]:
    """The model, and the pair that each of its first columns (device, pair) stands for."""
    type_of = np.repeat(np.arange(len(problem.types)), problem.devices)
    device, pair = np.nonzero(type_of[:, None] == problem.pair_type[None, :])
    application = problem.pair_application[pair]
    demand = problem.demand[application]
    model = LinearModel()
    hosts = model.columns(len(pair), high=1.0, whole=True)
    gain = problem.weight[application] * problem.accuracy[pair] * demand / problem.scale
    share = model.columns(len(pair), cost=gain, high=1.0)
    carried = model.rows(len(pair), -INFINITY, 0.0)
    model.put(carried, share, 1.0)
    model.put(carried, hosts, -np.minimum(1.0, problem.capacity[pair] / demand))
    one_each = model.rows(len(type_of), -INFINITY, 1.0)
    model.put(one_each[device], hosts, 1.0)
    all_served = model.rows(len(problem.demand), (problem.demand > 0) * 1.0, (problem.demand > 0) * 1.0)
    model.put(all_served[application], share, 1.0)
    return model, pair
