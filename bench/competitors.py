"""The solvers the planner is compared with. Each takes a case and seconds, and returns one row of the table."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bench import other_solvers
from tidewise.controller.allocation import highs, per_device, reference
from tidewise.controller.allocation.goal import Goal
from tidewise.controller.allocation.lexicographic import Candidate, Maximise, rank, shed
from tidewise.controller.allocation.linear import Effort
from tidewise.controller.allocation.problem import Ints, Problem, build
from tidewise.controller.allocation.solve import Limits, cpu_seconds, solution_of, solve
from tidewise.core.case import Case
from tidewise.core.solution import Solution

Row = dict[str, Any]
GAP = 1e-3
LARGEST_PER_DEVICE = 160  # devices above which the per-device model has no chance within a cell


def planner(case: Case, seconds: float) -> Row:
    """Ours: whatever the strategy chooses."""
    solution = solve(case, limits=Limits(gap=None if sum(case.device_types.values()) <= 64 else GAP))
    return _row(solution, solution.cpu)


def fast(case: Case, seconds: float) -> Row:
    """Ours: the plan that is there first."""
    solution = solve(case, method="fast")
    return _row(solution, solution.cpu)


def count_highs(case: Case, seconds: float) -> Row:
    """The plain count model in HiGHS."""
    return _whole(case, partial(highs.maximise, plain=True), seconds, "highs")


def count_pulp(case: Case, seconds: float) -> Row:
    """The plain count model in PuLP, solved by CBC."""
    return _whole(case, reference.maximise, seconds, "pulp")


def device_highs(case: Case, seconds: float) -> Row:
    """The published per-device formulation in HiGHS."""

    def maximise(problem: Problem, goal: Goal, effort: Effort, known: Ints) -> Any:
        return per_device.maximise(problem, goal, effort)

    if sum(case.device_types.values()) > LARGEST_PER_DEVICE:
        return {"status": "too large"}
    return _whole(case, maximise, seconds, "per-device", levels=False)


def count_scip(case: Case, seconds: float) -> Row:
    """The plain count model in SCIP."""
    return _whole(case, other_solvers.scip_counts, seconds, "scip")


def device_scip(case: Case, seconds: float) -> Row:
    """The published per-device formulation in SCIP."""
    if sum(case.device_types.values()) > LARGEST_PER_DEVICE:
        return {"status": "too large"}
    return _whole(case, other_solvers.scip_devices, seconds, "per-device", levels=False)


def count_cpsat(case: Case, seconds: float) -> Row:
    """The plain count model in CP-SAT, in whole numbers; it serves all demand or proves that it cannot."""
    return _whole(case, other_solvers.cpsat_counts, seconds, "cp-sat", levels=False)


def _whole(case: Case, maximise: Maximise, seconds: float, name: str, levels: bool = True) -> Row:
    """One integer program for all demand, and three more by level if it proves overload."""
    problem = build(case, capped=False)
    none = np.zeros(len(problem.capacity), np.int64)
    cpu = cpu_seconds()
    answer = maximise(problem, Goal(), _within(seconds), none)
    if answer.infeasible and levels:
        left = max(1.0, seconds - (cpu_seconds() - cpu)) / 3
        candidate = shed(problem, maximise, _within(left), none)
        return _row(solution_of(problem, candidate), cpu_seconds() - cpu)
    if answer.counts is None:
        return {"status": "infeasible" if answer.infeasible else "no plan", "cpu_s": cpu_seconds() - cpu}
    candidate = Candidate(answer.counts, rank(problem, answer.counts), answer.bound, name)
    if candidate.assignment.phi < 1.0:
        return {"status": "no plan", "cpu_s": cpu_seconds() - cpu}  # what it returned at its limit serves too little
    return _row(solution_of(problem, candidate), cpu_seconds() - cpu)


def _within(seconds: float) -> Effort:
    """Limited by CPU seconds alone, so that a busy machine changes nothing."""
    return Effort(GAP, checks=10**9, nodes=10**9, seconds=1e6, cpu_seconds=seconds)


def _row(solution: Solution, cpu: float) -> Row:
    return {
        "status": str(solution.status),
        "cpu_s": round(cpu, 4),
        "objective": solution.objective,
        "bound": solution.bound if math.isfinite(solution.bound) else None,
        "gap": solution.gap if math.isfinite(solution.bound) else None,
        "phi": solution.phi,
        "phi_bound": solution.phi_bound,
        "served": sum(solution.served.values()),
        "served_bound": solution.served_bound if math.isfinite(solution.served_bound or 0.0) else None,
    }


COMPETITORS: dict[str, Callable[[Case, float], Row]] = {
    "planner": planner,
    "fast": fast,
    "count-highs": count_highs,
    "count-cbc": count_pulp,
    "count-scip": count_scip,
    "count-cpsat": count_cpsat,
    "device-highs": device_highs,
    "device-scip": device_scip,
}
