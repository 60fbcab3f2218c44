"""What no plan may do: get worse when the cluster gets better, or depend on units."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_cases import small_case

from tidewise.controller.allocation.solve import Limits, solve
from tidewise.core.case import Case
from tidewise.core.solution import Solution, consistent

EXACT = Limits(gap=0.0)
SEEDS = st.integers(10_000, 20_000)
STORY = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def value(case: Case, solution: Solution) -> tuple[float, float, float]:
    """Lexicographic value of a plan."""
    return solution.phi, sum(solution.served.values()), solution.objective


def not_worse(better: tuple[float, ...], worse: tuple[float, ...]) -> bool:
    for one, two in zip(better, worse, strict=True):
        if abs(one - two) > 1e-5:
            return one > two
    return True


@STORY
@given(SEEDS)
def test_every_plan_is_consistent(seed: int) -> None:
    case = small_case(seed, terms=seed % 2 == 0)
    for method in ("auto", "fast"):
        assert consistent(case, solve(case, method=method))


@STORY
@given(SEEDS)
def test_one_more_device_never_makes_the_plan_worse(seed: int) -> None:
    case = small_case(seed)
    first = next(iter(case.device_types))
    more = replace(case, device_types={**case.device_types, first: case.device_types[first] + 1})
    assert not_worse(value(more, solve(more, limits=EXACT)), value(case, solve(case, limits=EXACT)))


@STORY
@given(SEEDS)
def test_faster_variants_never_make_the_plan_worse(seed: int) -> None:
    case = small_case(seed)
    faster = replace(case, capacity={t: {v: 1.3 * q for v, q in row.items()} for t, row in case.capacity.items()})
    assert not_worse(value(faster, solve(faster, limits=EXACT)), value(case, solve(case, limits=EXACT)))


@STORY
@given(SEEDS, st.floats(0.1, 1000))
def test_the_unit_of_time_does_not_matter(seed: int, factor: float) -> None:
    case = small_case(seed)
    scaled = replace(
        case.with_demand({n: a.demand * factor for n, a in case.applications.items()}),
        capacity={t: {v: factor * q for v, q in row.items()} for t, row in case.capacity.items()},
    )
    one, two = solve(case, limits=EXACT), solve(scaled, limits=EXACT)
    assert one.objective == pytest.approx(two.objective, abs=1e-6)
    assert one.phi == pytest.approx(two.phi, abs=1e-6)


@STORY
@given(SEEDS)
def test_same_input_same_plan(seed: int) -> None:
    case = small_case(seed)
    assert solve(case).counts == solve(case).counts
