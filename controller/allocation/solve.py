"""One entry point for every planning case: pick a method, solve, check, and report a certified gap."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass, replace

from tidewise.controller.allocation.assignment import assign
from tidewise.controller.allocation.lexicographic import Candidate
from tidewise.controller.allocation.linear import Effort
from tidewise.controller.allocation.problem import Ints, Problem, Terms, build, counts_by_name
from tidewise.controller.allocation.strategy import METHODS, best_plan
from tidewise.controller.allocation.terms import afford_headroom, lift_worst
from tidewise.core.case import Case
from tidewise.core.errors import InputError, PlanError
from tidewise.core.solution import Solution, Status, faults, loads

PROVEN = 1e-6  # relative gap at which a plan is called optimal
SMALL = 64  # devices up to which the planner proves optimality by default


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard to try. ``gap`` None picks one by size; the work limits make results repeatable."""

    gap: float | None = None
    checks: int = 3_000
    nodes: int = 200_000
    seconds: float = 60.0

    def effort(self, problem: Problem) -> Effort:
        """The same for one integer program."""
        gap = self.gap if self.gap is not None else (0.0 if problem.devices.sum() <= SMALL else 1e-3)
        return Effort(gap, self.checks, self.nodes, self.seconds)


def solve(case: Case, *, method: str = "auto", limits: Limits | None = None, terms: Terms | None = None) -> Solution:
    """The best plan found for the case, with a certified bound. Never fails on a valid case.

    Raises InputError for an unknown method and PlanError if a solver's plan breaks its own promises.
    """
    if method not in METHODS:
        raise InputError(f"solver {method!r} is unknown; choose one of {', '.join(METHODS)}")
    cpu, wall = cpu_seconds(), time.perf_counter()
    terms = terms or Terms()
    planned = afford_headroom(case, terms)
    problem = build(planned, terms)
    effort = (limits or Limits()).effort(problem)
    if terms.max_min and method != "fast":
        problem = lift_worst(problem, effort)
    candidate = best_plan(problem, method, effort)
    solution = solution_of(problem, candidate)
    if planned is not case:
        solution = replace(solution, planned={name: one.demand for name, one in planned.applications.items()})
    fault = next(faults(case, solution), None)
    if fault is not None:
        raise PlanError(f"solver {candidate.method!r} broke a promise: {fault}")
    return replace(solution, cpu=cpu_seconds() - cpu, wall=time.perf_counter() - wall)


def cpu_seconds() -> float:
    """CPU seconds of this process and of the solvers it started and awaited."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def solution_of(problem: Problem, candidate: Candidate) -> Solution:
    """The candidate in names, with its status."""
    counts: Ints = candidate.counts
    assignment = assign(problem, counts)
    named = {name: {k: int(n) for k, n in row.items()} for name, row in counts_by_name(problem, counts).items()}
    bound = max(candidate.bound, assignment.objective)
    total = float(assignment.rate.sum())
    full = assignment.phi >= 1.0
    proven = bound - assignment.objective <= PROVEN * max(abs(bound), 1e-12)
    served_status = Status.OPTIMAL if proven else Status.FEASIBLE
    return Solution(
        status=served_status if full else Status.OVERLOAD,
        objective=assignment.objective,
        bound=bound,
        phi=assignment.phi,
        effective_accuracy=float(problem.accuracy @ assignment.rate) / total if total > 0 else None,
        served=dict(zip(problem.applications, assignment.served.tolist(), strict=True)),
        counts=named,
        busy=counts_by_name(problem, assignment.rate / problem.rate),
        loads=loads(problem.case, named),
        method=candidate.method,
        swap_cost=problem.swap_cost,
        phi_bound=1.0 if full else candidate.phi_bound,
        served_bound=total if full else min(candidate.total_bound, float(problem.demand.sum())),
    )
