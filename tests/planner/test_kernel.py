"""The native kernel and its Python twin say the same."""

from dataclasses import replace

import numpy as np
import pytest
from small_cases import small_case

from tidewise.controller.allocation.exact import decompose
from tidewise.controller.allocation.fast import fast_plan, relax
from tidewise.controller.allocation.kernel import improve, kernel_of, native
from tidewise.controller.allocation.lexicographic import fits, rank
from tidewise.controller.allocation.problem import Problem, Terms, build

pytestmark = pytest.mark.skipif(native() is None, reason="the native planner is not built")


def problems() -> list[Problem]:
    """Small problems, with and without floors, weights and swap cost."""
    made = [build(small_case(s, load=3, terms=s % 2 == 0), Terms(swap_cost=0.01 * (s % 3))) for s in range(7000, 7040)]
    return [problem for problem in made if len(problem.capacity)]


def test_prices_bound_alike() -> None:
    for problem in problems():
        prices = (np.arange(1, len(problem.types) + 1) * 0.03).tolist()
        one = kernel_of(problem).price(prices, 100_000)
        two = kernel_of(problem, pure=True).price(prices, 100_000)
        assert list(one.found) == list(two.found)
        if all(one.found):
            assert one.bound == pytest.approx(two.bound, abs=1e-9)
            assert list(one.values) == pytest.approx(list(two.values), abs=1e-9)


def test_joins_are_equally_good() -> None:
    for problem in problems():
        prices = [0.02] * len(problem.types)
        losses = []
        for kernel in (kernel_of(problem), kernel_of(problem, pure=True)):
            if not all(kernel.price(prices, 100_000).found):
                break
            assert kernel.enumerate(0.3, 10_000, 1_000_000) == pytest.approx(0.3)
            joint = kernel.join(0.3, 100_000)
            losses.append(joint.loss if joint.found else -1.0)
        assert len(losses) < 2 or losses[0] == pytest.approx(losses[1], abs=1e-9)


def test_both_prove_the_same_optimum() -> None:
    for problem in problems():
        relaxation = relax(problem, problem.demand)
        found = []
        for pure in (False, True):
            kernel = kernel_of(problem, pure=pure)
            first = fast_plan(problem, kernel, relaxation)
            if relaxation.short > 1e-9:
                break
            found.append(decompose(problem, kernel, first, relaxation.prices, 0.0).assignment)
        assert len(found) < 2 or found[0].objective == pytest.approx(found[1].objective, abs=1e-9)


def test_local_search_never_makes_a_plan_worse() -> None:
    for problem in problems():
        for pure in (False, True):
            kernel = kernel_of(problem, pure=pure)
            before = np.zeros(len(problem.capacity), np.int64)
            after = improve(problem, kernel, before.tolist(), 1.0, 50)
            assert fits(problem, after)
            assert rank(problem, after).total >= rank(problem, before).total - 1e-9


def test_the_same_problem_gives_the_same_plan() -> None:
    for problem in problems()[:10]:
        relaxation = relax(problem, problem.demand)
        plans = [fast_plan(problem, kernel_of(problem), relaxation).counts.tolist() for _ in range(2)]
        assert plans[0] == plans[1]


def test_columns_that_leave_demand_out_bound_alike() -> None:
    for problem in problems():
        if problem.floor.any():
            continue
        held = replace(problem, least=0.4, bonus=0.5 / problem.demand.sum())
        prices = (np.arange(1, len(problem.types) + 1) * 0.05).tolist()
        kernels = kernel_of(held), kernel_of(held, pure=True)
        one, two = (kernel.price(prices, 100_000) for kernel in kernels)
        assert one.bound == pytest.approx(two.bound, abs=1e-9)
        for kernel in kernels:
            kernel.enumerate(0.3, 10_000, 1_000_000)
        joined = [kernel.join(0.3, 100_000) for kernel in kernels]
        assert joined[0].found == joined[1].found
        assert not joined[0].found or joined[0].loss == pytest.approx(joined[1].loss, abs=1e-9)
