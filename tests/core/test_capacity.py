"""Capacity: the largest size / p95 over sizes that leave part of the SLO for waiting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidewise.core.capacity import NONE, QUEUE_SHARE, Capacity, capacity
from tidewise.core.profile import BatchLatency, VariantProfile


def profile(*points: tuple[int, float], memory: int = 0) -> VariantProfile:
    """From (size, p95 seconds) pairs."""
    return VariantProfile("a", "v", "big", tuple(BatchLatency(size, p95 * 0.9, p95) for size, p95 in points), memory)


profiles = st.lists(st.tuples(st.integers(1, 40), st.floats(0.001, 1.0)), min_size=1, max_size=6).map(
    lambda points: profile(*sorted(dict(points).items()))
)


def test_the_best_size_within_half_the_slo_counts() -> None:
    one = profile((1, 0.010), (4, 0.020), (8, 0.080))
    assert capacity(one, slo=0.050) == Capacity(pytest.approx(4 / 0.020), 4)
    assert capacity(one, slo=0.024) == Capacity(pytest.approx(1 / 0.010), 1)


def test_not_always_the_largest_batch() -> None:
    assert capacity(profile((1, 0.010), (8, 0.100)), slo=10.0).batch == 1


def test_sizes_between_profiled_ones_are_interpolated() -> None:
    one = profile((1, 0.010), (9, 0.050))
    assert capacity(one, slo=0.060) == Capacity(pytest.approx(5 / 0.030), 5)


def test_where_only_some_sizes_may_run_only_they_count() -> None:
    one = profile((1, 0.010), (9, 0.050))
    assert capacity(one, slo=0.060, sizes=(1, 4, 8)) == Capacity(pytest.approx(4 / 0.025), 4)
    assert capacity(one, slo=0.060, sizes=(16,)) == NONE, "never beyond what was profiled"


def test_sizes_below_the_smallest_profiled_one_cost_as_much() -> None:
    assert capacity(profile((4, 0.020)), slo=0.050, sizes=(1, 2)) == Capacity(pytest.approx(100), 2)


def test_nothing_fits_a_tight_slo_or_a_small_memory() -> None:
    one = profile((1, 0.010), memory=200)
    assert capacity(one, slo=0.018) == NONE
    assert capacity(one, slo=1.0, memory=199) == NONE
    assert capacity(one, slo=1.0, memory=200).rate > 0


def test_of_equal_rates_the_smaller_batch_waits_less() -> None:
    assert capacity(profile((1, 0.010), (2, 0.020)), slo=1.0).batch == 1


@given(profiles, st.floats(0.001, 3.0))
def test_no_size_that_fits_is_faster_and_the_one_chosen_fits(one: VariantProfile, slo: float) -> None:
    found = capacity(one, slo)
    fitting = [size for size in range(1, one.max_batch + 1) if one.p95(size) <= slo * QUEUE_SHARE]
    if fitting:
        assert found.batch in fitting
        assert found.rate == max(size / one.p95(size) for size in fitting)
    else:
        assert found == NONE


@given(profiles, st.floats(0.001, 3.0), st.floats(0.001, 3.0))
def test_a_longer_slo_never_costs_capacity(one: VariantProfile, slo: float, more: float) -> None:
    assert capacity(one, slo + more).rate >= capacity(one, slo).rate
