"""What no plan may do: get worse when the cluster gets better, or depend on units."""

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_cases import small_case
from small_cases import value as brute_value

from tidewise.controller.allocation.fast import common_fraction
from tidewise.controller.allocation.problem import build
from tidewise.controller.allocation.solve import Limits, solve
from tidewise.core.capacity import capacity
from tidewise.core.case import Case
from tidewise.core.profile import BatchLatency, VariantProfile
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
@given(SEEDS, st.integers(2, 4))
def test_as_many_times_the_demand_and_the_devices_is_worth_as_much(seed: int, times: int) -> None:
    case = small_case(seed)
    larger = replace(
        case.with_demand({n: times * a.demand for n, a in case.applications.items()}),
        device_types={t: times * n for t, n in case.device_types.items()},
    )
    one, many = build(case, capped=False), build(larger, capped=False)
    assert common_fraction(many) == pytest.approx(common_fraction(one), abs=1e-7)
    counts = {t: {v: times * n for v, n in row.items()} for t, row in solve(case, limits=EXACT).counts.items()}
    phi, served, objective = brute_value(larger, counts)
    again = solve(larger, limits=EXACT)
    assert not_worse(value(larger, again), (min(phi, again.phi) if again.phi == 0 else phi, served, objective))


@STORY
@given(SEEDS, st.floats(1.0, 3.0))
def test_a_looser_slo_never_makes_the_plan_worse(seed: int, looser: float) -> None:
    case, draw = small_case(seed), random.Random(seed)
    profiles = {
        (t, v): VariantProfile(
            "a", v, t, tuple(BatchLatency(b, latency, latency) for b, latency in _latencies(draw)), memory=0
        )
        for t in case.device_types
        for v in case.variants
    }

    def under(slo: float) -> Case:
        rates = {t: {v: capacity(profiles[t, v], slo).rate for v in case.variants} for t in case.device_types}
        return replace(case, capacity=rates)

    tight, loose = under(0.2), under(0.2 * looser)
    assert not_worse(value(loose, solve(loose, limits=EXACT)), value(tight, solve(tight, limits=EXACT)))


def _latencies(draw: random.Random) -> list[tuple[int, float]]:
    """A profile that bends as it likes: seconds of batches of 1, 2, 4 and 8."""
    first = draw.uniform(0.02, 0.15)
    return [(size, first * (1 + draw.uniform(0.2, 1.0) * (size - 1))) for size in (1, 2, 4, 8)]


@STORY
@given(SEEDS)
def test_same_input_same_plan(seed: int) -> None:
    case = small_case(seed)
    assert solve(case).counts == solve(case).counts
