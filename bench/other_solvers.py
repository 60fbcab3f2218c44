"""SCIP and OR-tools CP-SAT on our models. Neither is a dependency of the project: `pip install pyscipopt ortools`."""

from __future__ import annotations

import math

import numpy as np

from tidewise.controller.allocation.goal import Answer, Goal
from tidewise.controller.allocation.highs import count_model
from tidewise.controller.allocation.linear import INFINITY, Effort, LinearModel
from tidewise.controller.allocation.per_device import per_device_model
from tidewise.controller.allocation.problem import Floats, Ints, Problem

GRID = 10_000  # CP-SAT knows whole numbers only: a device's time is cut into as many pieces


def scip_counts(problem: Problem, goal: Goal, effort: Effort, known: Ints) -> Answer:
    """The count model in SCIP."""
    x, bound, infeasible = _scip(count_model(problem, goal, plain=True), effort)
    counts = None if x is None else np.round(x[: len(problem.capacity)]).astype(np.int64)
    return Answer(counts, bound, infeasible)


def scip_devices(problem: Problem, goal: Goal, effort: Effort, known: Ints) -> Answer:
    """The published per-device formulation in SCIP."""
    model, pair = per_device_model(problem)
    x, bound, infeasible = _scip(model, effort)
    return Answer(_hosted(problem, pair, x), bound, infeasible)


def cpsat_counts(problem: Problem, goal: Goal, effort: Effort, known: Ints) -> Answer:
    """The count model in CP-SAT, for the goal that serves all demand.

    Busy time is a whole number of ``GRID`` pieces of a device. An application may be served a little beyond its demand,
    as much as rounding every busy time up can add: so every plan is still a plan on the grid and the bound holds, and
    every plan on the grid serves all demand.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    size = len(problem.capacity)
    n = [model.new_int_var(0, int(problem.most[k]), f"n{k}") for k in range(size)]
    u = [model.new_int_var(0, GRID * int(problem.most[k]), f"u{k}") for k in range(size)]
    for k in range(size):
        model.add(u[k] <= GRID * n[k])
    for t, devices in enumerate(problem.devices):
        model.add(sum(n[k] for k in np.flatnonzero(problem.pair_type == t).tolist()) <= int(devices))
    rate = np.floor(problem.capacity * 1000).astype(np.int64)  # of a thousandth query per second
    for a in np.flatnonzero(problem.servable).tolist():
        mine = range(problem.start[a], problem.start[a + 1])
        low = math.ceil(problem.demand[a] * 1000 * GRID)
        model.add_linear_constraint(sum(int(rate[k]) * u[k] for k in mine), low, low + int(rate[list(mine)].sum()))
    unit = 1e9 / float(problem.value.max()) / GRID  # the objective in whole numbers, rounded up
    model.maximize(sum(math.ceil(unit * GRID * problem.value[k]) * u[k] for k in range(size)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.relative_gap_limit = effort.gap
    solver.parameters.max_time_in_seconds = effort.cpu_seconds  # one thread: wall and CPU are near on an idle core
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return Answer(None, -np.inf, infeasible=True)
    bound = solver.best_objective_bound / (unit * GRID) / GRID
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return Answer(np.array([solver.value(one) for one in n], np.int64) if found else None, bound)


def _hosted(problem: Problem, pair: Ints, x: Floats | None) -> Ints | None:
    if x is None:
        return None
    chosen = np.round(x[: len(pair)]).astype(np.int64)
    return np.bincount(pair, chosen, minlength=len(problem.capacity)).astype(np.int64)


def _scip(model: LinearModel, effort: Effort) -> tuple[Floats | None, float, bool]:
    """(solution or None, bound, proven infeasible) of a model."""
    from pyscipopt import Model, quicksum

    scip = Model()
    scip.hideOutput()
    cost, low, high = map(np.concatenate, (model.cost, model.lower, model.upper))
    whole = np.concatenate(model.whole)
    x = [
        scip.addVar(lb=low[j], ub=None if high[j] >= INFINITY else high[j], vtype="I" if whole[j] else "C")
        for j in range(model.width)
    ]
    rows: list[list[tuple[int, float]]] = [[] for _ in range(model.height)]
    for row, column, value in model.entries:
        for i, j, entry in zip(row.tolist(), column.tolist(), value.tolist(), strict=True):
            rows[i].append((j, entry))
    limits = zip(np.concatenate(model.row_lower), np.concatenate(model.row_upper), strict=True)
    for entries, (least, most) in zip(rows, limits, strict=True):
        total = quicksum(entry * x[j] for j, entry in entries)
        if least == most:
            scip.addCons(total == least)
        elif least > -INFINITY:
            scip.addCons(total >= least)
        elif most < INFINITY:
            scip.addCons(total <= most)
    scip.setObjective(quicksum(cost[j] * x[j] for j in np.flatnonzero(cost)), "maximize")
    scip.setParam("timing/clocktype", 1)  # CPU seconds
    scip.setParam("limits/time", effort.cpu_seconds)
    scip.setParam("limits/gap", effort.gap)
    scip.setParam("randomization/randomseedshift", 0)
    scip.optimize()
    if scip.getStatus() == "infeasible":
        return None, -np.inf, True
    bound = float(scip.getDualbound())
    if not scip.getNSols():
        return None, bound, False
    best = scip.getBestSol()
    return np.array([scip.getSolVal(best, one) for one in x]), bound, False
