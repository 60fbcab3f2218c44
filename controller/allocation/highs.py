"""The count model on HiGHS: n device counts and u busy devices per pair, independent of the number of devices.

    max   sum_k w_a A_k P_k u_k / sum_a w_a D_a  -  swap_cost sum_k s_k
    s.t.  u_k <= n_k,   sum_{k on t} n_k <= N_t,   sum_{k of a} (P_k / D_a) u_k = f_a,
          s_k >= n_k - current_k,   sum_{k of a} (A_k - floor_a) (P_k / D_a) u_k >= 0,   sum_{k of a} n_k >= replicas_a

with the served fraction f_a = 1 unless the cluster is overloaded. docs/planner.md proves that it equals the
per-device formulation.
"""

from __future__ import annotations

import numpy as np

from tidewise.controller.allocation.goal import Aim, Answer, Goal
from tidewise.controller.allocation.linear import INFINITY, Effort, LinearModel, Outcome
from tidewise.controller.allocation.problem import Floats, Ints, Problem


def maximise(
    problem: Problem, goal: Goal, effort: Effort | None = None, known: Ints | None = None, *, plain: bool = False
) -> Answer:
    """Solve the count model for one goal; ``plain`` leaves out what only helps HiGHS, for comparison."""
    if not len(problem.capacity):
        return Answer(np.zeros(0, np.int64), 0.0, infeasible=bool(problem.servable.any()))
    outcome = count_model(problem, goal, plain=plain).solve(effort)
    counts = None
    if outcome.x is not None:
        counts = np.round(outcome.x[: len(problem.capacity)]).astype(np.int64)
    return Answer(counts, outcome.bound, outcome.infeasible)


def relaxed(problem: Problem, goal: Goal) -> Outcome:
    """The linear relaxation: without whole numbers n = u, so that one column a pair is enough."""
    return count_model(problem, goal, whole=False).solve()


def relaxed_bound(problem: Problem, goal: Goal) -> float:
    """An upper bound on a goal within reach: the relaxation's, or a trivial one where arithmetic finds none."""
    outcome = relaxed(problem, goal)
    if outcome.x is not None:
        return outcome.objective
    if goal.aim is not Aim.ACCURACY:
        return 1.0
    return float((problem.weight * problem.demand) @ problem.best) / problem.scale


def count_model(problem: Problem, goal: Goal, *, whole: bool = True, plain: bool = False) -> LinearModel:
    """The model as arrays; its first K columns are the counts. ``plain`` leaves the sums over families out."""
    model = LinearModel()
    size = len(problem.capacity)
    gain = problem.value if goal.aim is Aim.ACCURACY else 0.0
    most = np.where(_demand(problem) > 0, problem.most, 0)
    if whole:
        counts = model.columns(size, high=problem.most, whole=True)
        busy = model.columns(size, cost=gain, high=most)
        hosted = model.rows(size, -INFINITY, 0.0)
        model.put(hosted, busy, 1.0)
        model.put(hosted, counts, -1.0)
    else:
        counts = busy = model.columns(size, cost=np.where(most > 0, gain, 0.0), high=problem.most)
    devices = model.rows(len(problem.types), -INFINITY, problem.devices)
    model.put(devices[problem.pair_type], counts, 1.0)
    fraction = _serve(model, problem, goal, busy)
    if whole and not plain:
        _count_families(model, problem, counts, fraction)
    keep_floors(model, problem, busy)
    if goal.fraction == 1.0 and goal.aim is not Aim.FRACTION:
        _keep_replicas(model, problem, counts)  # under overload every device is needed for demand
    if goal.aim is Aim.WORST:
        _lift_worst_accuracy(model, problem, busy)
    if problem.swap_cost > 0 and goal.aim is Aim.ACCURACY:
        _charge_swaps(model, problem, counts)
    return model


def _count_families(model: LinearModel, problem: Problem, counts: Ints, fraction: Ints) -> None:
    """m_ta = sum of n over the pairs of application a on type t, whole, and f_a <= sum_t (P_ta / D_a) m_ta with the
    fastest P_ta of them.

    Follows from the other rows, but HiGHS branches and cuts far better on these few numbers than on the many n: what
    an application can be served at most is a matter of them alone.
    """
    types = len(problem.types)
    families, family = np.unique(problem.pair_application * types + problem.pair_type, return_inverse=True)
    held = model.columns(len(families), high=problem.devices[families % types], whole=True)
    sums = model.rows(len(families), 0.0, 0.0)
    model.put(sums[family], counts, 1.0)
    model.put(sums, held, -1.0)
    fastest = np.zeros(len(families))
    np.maximum.at(fastest, family, _shares(problem))
    row_of = np.full(len(problem.applications), -1)
    row_of[problem.servable] = rows = model.rows(len(fraction), 0.0, INFINITY)
    mine = row_of[families // types] >= 0
    model.put(row_of[families[mine] // types], held[mine], fastest[mine])
    model.put(rows, fraction, -1.0)


def _serve(model: LinearModel, problem: Problem, goal: Goal, busy: Ints) -> Ints:
    """Columns of the served fraction f_a of every servable application, and what the goal asks of it."""
    applications = np.nonzero(problem.servable)[0]
    low = goal.fraction if goal.aim is not Aim.FRACTION else 0.0
    total = max(problem.demand.sum(), 1e-300)
    gain = problem.demand[applications] / total if goal.aim is Aim.SERVED else 0.0
    fraction = model.columns(len(applications), cost=gain, low=low, high=1.0)
    row_of = np.full(len(problem.applications), -1)
    row_of[applications] = model.rows(len(applications), 0.0, 0.0)
    mine = row_of[problem.pair_application] >= 0
    rows = row_of[problem.pair_application[mine]]
    model.put(rows, busy[mine], _shares(problem)[mine])
    model.put(row_of[applications], fraction, -1.0)
    if goal.aim is Aim.FRACTION:
        _lift_common_fraction(model, fraction)
    if goal.served > 0:
        model.put(model.rows(1, goal.served / total, INFINITY), fraction, problem.demand[applications] / total)
    return fraction


def _shares(problem: Problem) -> Floats:
    """(K) The share of its application's demand that one device of each pair carries."""
    demand = _demand(problem)
    return problem.capacity / np.where(demand > 0, demand, 1.0)


def _demand(problem: Problem) -> Floats:
    """(K) The demand of each pair's application."""
    return problem.demand[problem.pair_application]


def _lift_common_fraction(model: LinearModel, fraction: Ints) -> None:
    """phi <= f_a for all a; maximise phi."""
    phi = model.columns(1, cost=1.0, high=1.0)
    rows = model.rows(len(fraction), 0.0, INFINITY)
    model.put(rows, fraction, 1.0)
    model.put(rows, phi, -1.0)


def _lift_worst_accuracy(model: LinearModel, problem: Problem, busy: Ints) -> None:
    """z <= mean accuracy of a / accuracy of its best variant, for all a; maximise z."""
    worst = model.columns(1, cost=1.0, high=1.0)
    applications = np.nonzero(problem.servable)[0]
    row_of = np.full(len(problem.applications), -1)
    row_of[applications] = rows = model.rows(len(applications), 0.0, INFINITY)
    mine = row_of[problem.pair_application] >= 0
    relative = problem.accuracy * _shares(problem) / problem.best[problem.pair_application]
    model.put(row_of[problem.pair_application[mine]], busy[mine], relative[mine])
    model.put(rows, worst, -1.0)


def keep_floors(model: LinearModel, problem: Problem, busy: Ints) -> None:
    """Rows that hold the mean accuracy of every application's served queries at its floor."""
    floored = np.nonzero(problem.servable & (problem.floor > 0))[0]
    row_of = np.full(len(problem.applications), -1)
    row_of[floored] = model.rows(len(floored), 0.0, INFINITY)
    mine = row_of[problem.pair_application] >= 0
    surplus = (problem.accuracy - problem.floor[problem.pair_application]) * _shares(problem)
    model.put(row_of[problem.pair_application[mine]], busy[mine], surplus[mine])


def _keep_replicas(model: LinearModel, problem: Problem, counts: Ints) -> None:
    asked = np.nonzero((problem.replicas > 0) & (np.diff(problem.start) > 0))[0]
    row_of = np.full(len(problem.applications), -1)
    row_of[asked] = model.rows(len(asked), problem.replicas[asked], INFINITY)
    mine = row_of[problem.pair_application] >= 0
    model.put(row_of[problem.pair_application[mine]], counts[mine], 1.0)


def _charge_swaps(model: LinearModel, problem: Problem, counts: Ints) -> None:
    """s_k >= n_k - current_k at swap_cost each."""
    swaps = model.columns(len(counts), cost=-problem.swap_cost, high=problem.most)
    rows = model.rows(len(counts), -problem.current, INFINITY)
    model.put(rows, swaps, 1.0)
    model.put(rows, counts, -1.0)
