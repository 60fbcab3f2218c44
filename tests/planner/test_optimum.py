"""Every solver finds the same optimum: HiGHS, PuLP, the per-device formulation and brute force."""

import numpy as np
import pytest
from small_cases import brute_force, small_case

from tidewise.controller.allocation import per_device
from tidewise.controller.allocation.assignment import assign
from tidewise.controller.allocation.goal import Goal
from tidewise.controller.allocation.problem import Terms, build
from tidewise.controller.allocation.solve import Limits, solve
from tidewise.core.solution import Status, consistent

EXACT = Limits(gap=0.0)


@pytest.mark.parametrize("block", range(10))
def test_highs_equals_brute_force(block: int) -> None:
    for seed in range(block * 15, block * 15 + 15):
        case = small_case(seed)
        phi, served, objective = brute_force(case)
        solution = solve(case, method="highs", limits=EXACT)
        assert consistent(case, solution)
        assert sum(solution.served.values()) == pytest.approx(served, abs=1e-5)
        assert solution.objective == pytest.approx(objective, abs=1e-6), seed
        assert (solution.status is Status.OVERLOAD) == (
            served < sum(a.demand for a in case.applications.values()) - 1e-6
        )
        if all(solution.served.values()) and solution.status is Status.OVERLOAD:
            assert solution.phi == pytest.approx(phi, abs=1e-6)


@pytest.mark.parametrize("block", range(4))
def test_terms_equal_brute_force(block: int) -> None:
    for seed in range(1000 + block * 15, 1015 + block * 15):
        case = small_case(seed, terms=True)
        _, served, objective = brute_force(case, 0.01)
        solution = solve(case, method="highs", limits=EXACT, terms=Terms(swap_cost=0.01))
        assert consistent(case, solution)
        assert sum(solution.served.values()) == pytest.approx(served, abs=1e-5), seed
        assert solution.objective == pytest.approx(objective, abs=1e-5), seed


def test_pulp_equals_highs() -> None:
    for seed in range(2000, 2025):
        case = small_case(seed, terms=seed % 2 == 0)
        terms = Terms(swap_cost=0.01 * (seed % 3))
        one = solve(case, method="highs", limits=EXACT, terms=terms)
        two = solve(case, method="pulp", limits=EXACT, terms=terms)
        assert one.objective == pytest.approx(two.objective, abs=1e-6), seed
        assert one.status == two.status


@pytest.mark.parametrize("block", range(10))
def test_the_planner_the_per_device_formulation_and_brute_force_agree(block: int) -> None:
    compared = 0
    for seed in range(3000 + block * 40, 3040 + block * 40):
        case = small_case(seed, load=2.5)
        problem = build(case)
        if not problem.servable.all():
            continue
        compared += 1
        phi, served, objective = brute_force(case)
        solution, answer = solve(case, limits=EXACT), per_device.maximise(problem, Goal())
        assert consistent(case, solution)
        assert answer.infeasible == (solution.status is Status.OVERLOAD) == (phi < 1 - 1e-6), seed
        assert solution.objective == pytest.approx(objective, abs=1e-6), seed
        assert sum(solution.served.values()) == pytest.approx(served, abs=1e-5), seed
        if answer.counts is not None:
            assert assign(problem, np.array(answer.counts)).objective == pytest.approx(objective, abs=1e-6), seed
        else:
            assert solution.phi == pytest.approx(phi, abs=1e-6), seed
            assert solution.phi_bound == pytest.approx(phi, abs=1e-6), seed
            assert solution.served_bound == pytest.approx(served, abs=1e-5), seed
    assert compared >= 20
