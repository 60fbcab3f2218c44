"""The count model written to be read, in PuLP; any solver PuLP knows can run it. Tests hold the others against it."""

from __future__ import annotations

import numpy as np
import pulp

from tidewise.controller.allocation.goal import Aim, Answer, Goal
from tidewise.controller.allocation.linear import Effort
from tidewise.controller.allocation.problem import Ints, Problem


def maximise(problem: Problem, goal: Goal, effort: Effort | None = None, known: Ints | None = None) -> Answer:
    """Solve the count model for one goal with CBC."""
    effort = effort or Effort()
    return maximise_with(problem, goal, cbc(effort), effort.gap)


def cbc(effort: Effort) -> pulp.LpSolver:
    """The solver PuLP ships."""
    seconds = min(effort.seconds, effort.cpu_seconds)
    mode = "elapsed" if effort.seconds <= effort.cpu_seconds else "cpu"
    return pulp.PULP_CBC_CMD(msg=False, threads=1, gapRel=effort.gap, timeLimit=seconds, timeMode=mode)


def maximise_with(problem: Problem, goal: Goal, solver: pulp.LpSolver, gap: float = 0.0) -> Answer:
    """Solve the count model for one goal with this solver, which stops at this relative gap."""
    model, counts = count_model(problem, goal)
    if not counts:
        return Answer(np.zeros(0, np.int64), 0.0, infeasible=bool(problem.servable.any()))
    model.solve(solver)
    if model.status == pulp.LpStatusInfeasible:
        return Answer(None, -np.inf, infeasible=True)
    if model.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
        return Answer(None, np.inf)
    found = np.array([round(variable.value()) for variable in counts], np.int64)
    proven = model.sol_status == pulp.LpSolutionOptimal
    bound = pulp.value(model.objective) / (1 - gap) if proven else np.inf  # "optimal" means within the gap asked for
    return Answer(found, bound)


def count_model(problem: Problem, goal: Goal) -> tuple[pulp.LpProblem, list[pulp.LpVariable]]:
    """The model and its count variables."""
    model = pulp.LpProblem("plan", pulp.LpMaximize)
    pairs = range(len(problem.capacity))
    n = [pulp.LpVariable(f"n_{k}", 0, int(problem.most[k]), pulp.LpInteger) for k in pairs]
    u = [pulp.LpVariable(f"u_{k}", 0, None if problem.demand[problem.pair_application[k]] > 0 else 0) for k in pairs]
    model += _gain(problem, goal, n, u, model)
    for k in pairs:
        model += u[k] <= n[k]
    for t, devices in enumerate(problem.devices):
        model += pulp.lpSum(n[k] for k in pairs if problem.pair_type[k] == t) <= int(devices)
    _serve(problem, goal, n, u, model)
    return model, n


def _gain(
    problem: Problem, goal: Goal, n: list[pulp.LpVariable], u: list[pulp.LpVariable], model: pulp.LpProblem
) -> pulp.LpAffineExpression:
    """What the goal maximises (phi is a variable of its own)."""
    pairs = range(len(problem.capacity))
    if goal.aim is Aim.SERVED:
        return pulp.lpSum(problem.capacity[k] * u[k] for k in pairs) / problem.demand.sum()
    if goal.aim is Aim.FRACTION:
        phi = pulp.LpVariable("phi", 0, 1)
        for a in np.nonzero(problem.servable)[0].tolist():
            model += phi * float(problem.demand[a]) <= _served(problem, u, a)
        return pulp.lpSum([phi])
    if goal.aim is Aim.WORST:
        worst = pulp.LpVariable("worst", 0, 1)
        for a in np.nonzero(problem.servable)[0].tolist():
            model += worst * float(problem.demand[a] * problem.best[a]) <= _served(problem, u, a, problem.accuracy)
        return pulp.lpSum([worst])
    accuracy = pulp.lpSum(problem.value[k] * u[k] for k in pairs)
    if problem.swap_cost == 0:
        return accuracy
    swaps = [pulp.LpVariable(f"s_{k}", 0) for k in pairs]
    for k in pairs:
        model += swaps[k] >= n[k] - int(problem.current[k])
    return accuracy - problem.swap_cost * pulp.lpSum(swaps)


def _serve(
    problem: Problem, goal: Goal, n: list[pulp.LpVariable], u: list[pulp.LpVariable], model: pulp.LpProblem
) -> None:
    """Demand, floors and replicas of every application."""
    least = 0.0 if goal.aim is Aim.FRACTION else goal.fraction
    servable = np.nonzero(problem.servable)[0].tolist()
    for a in servable:
        demand, served = float(problem.demand[a]), _served(problem, u, a)
        model += served <= demand
        model += served >= least * demand
        if problem.floor[a] > 0:
            model += _served(problem, u, a, problem.accuracy) >= float(problem.floor[a]) * served
    held = goal.fraction == 1.0 and goal.aim is not Aim.FRACTION
    for a in np.nonzero((problem.replicas > 0) & held)[0].tolist():
        mine = range(problem.start[a], problem.start[a + 1])
        if mine:
            model += pulp.lpSum(n[k] for k in mine) >= int(problem.replicas[a])
    if goal.served > 0:
        model += pulp.lpSum(_served(problem, u, a) for a in servable) >= goal.served


def _served(
    problem: Problem, u: list[pulp.LpVariable], a: int, worth: np.ndarray | None = None
) -> pulp.LpAffineExpression:
    """Queries per second of application a, each counted by its ``worth`` (K) if given."""
    mine = range(problem.start[a], problem.start[a + 1])
    return pulp.lpSum(problem.capacity[k] * (1.0 if worth is None else worth[k]) * u[k] for k in mine)
