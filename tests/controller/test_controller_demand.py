"""Demand, triggers and the registry: what is known, and when it is reason enough."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidewise.controller.arrivals import Arrivals
from tidewise.controller.demand import DemandEstimator
from tidewise.controller.registry import Device
from tidewise.controller.triggers import burst, hold_off, violations
from tidewise.core.cluster import PlannerSettings
from tidewise.core.demand import WINDOWS, Estimate, planned_demand
from tidewise.core.report import DeviceReport
from tidewise.core.routes import Tally

SETTINGS = PlannerSettings()


def fed(counts: list[list[int]], step: float = 0.25) -> tuple[DemandEstimator, float]:
    """One list of counts for each router, reported in turn."""
    estimator, now = DemandEstimator(), 0.0
    for row in zip(*counts, strict=True):
        now += step
        for router, count in enumerate(row):
            estimator.add(router, [Tally("a", step, count)], now)
        estimator.tick(now)
    return estimator, now


def _poisson(rng: random.Random, mean: float) -> int:
    count, total = 0, rng.expovariate(1.0)
    while total < mean:
        count, total = count + 1, total + rng.expovariate(1.0)
    return count


def test_rates_in_all_windows_sum_over_routers() -> None:
    estimator, now = fed([[5] * 160, [10] * 160])
    estimate = estimator.estimate("a", now)
    assert all(estimate.rates[window] == pytest.approx(60) for window in WINDOWS)
    assert estimate.level == pytest.approx(60)


def test_nothing_known_is_zero_everywhere() -> None:
    estimate = DemandEstimator().estimate("a", 5.0)
    assert estimate.level == 0 and set(estimate.rates.values()) == {0.0} and estimate.dispersion == 1.0


def test_demand_is_zero_when_the_longest_window_is_empty() -> None:
    estimator, now = fed([[5] * 40 + [0] * 124])
    estimate = estimator.estimate("a", now)
    assert estimate.level == 0.0 and set(estimate.rates.values()) == {0.0}


def test_a_router_that_falls_silent_counts_as_no_arrivals() -> None:
    estimator, now = fed([[5] * 40])
    later = now + 10
    estimator.tick(later)
    assert estimator.estimate("a", later).rates[3.0] == 0.0


def test_a_late_report_is_spread_over_the_time_it_covers() -> None:
    estimator = DemandEstimator()
    estimator.add(1, [Tally("a", 0.25, 5)], 10.0)
    estimator.add(1, [Tally("a", 2.0, 40)], 12.0)
    rates = estimator.estimate("a", 12.0).rates
    assert rates[0.25] == pytest.approx(20) and rates[1.0] == pytest.approx(20)


@pytest.mark.parametrize("routers", [1, 3])
def test_poisson_arrivals_have_dispersion_one(routers: int) -> None:
    rng = random.Random(3)
    estimator, now = fed([[_poisson(rng, 20) for _ in range(800)] for _ in range(routers)])
    assert estimator.estimate("a", now).dispersion == pytest.approx(1, abs=0.45)


@pytest.mark.parametrize("routers", [1, 2])
def test_clumped_arrivals_show_however_many_routers_they_are_spread_over(routers: int) -> None:
    rng = random.Random(4)
    rows: list[list[int]] = [[] for _ in range(routers)]
    for _ in range(1200):
        clumps = 4 * _poisson(rng, 5)
        parts = [rng.randrange(routers) for _ in range(clumps)]
        for router in range(routers):
            rows[router].append(parts.count(router))
    estimator, now = fed(rows)
    assert estimator.estimate("a", now).dispersion == pytest.approx(4, rel=0.45)


def test_a_step_in_demand_is_not_taken_for_clumping() -> None:
    rng = random.Random(5)
    estimator, now = fed([[_poisson(rng, 10) for _ in range(200)] + [_poisson(rng, 40) for _ in range(20)]])
    assert estimator.estimate("a", now).dispersion < 2


@given(st.lists(st.tuples(st.floats(0, 40), st.integers(0, 10**9), st.floats(-1, 100)), max_size=20))
@settings(max_examples=100, deadline=None)
def test_no_report_makes_an_estimate_absurd(reports: list[tuple[float, int, float]]) -> None:
    estimator, now = DemandEstimator(), 0.0
    for gap, count, seconds in reports:
        now += gap
        estimator.add(1, [Tally("a", seconds, count)], now)
        estimator.tick(now)
        estimate = estimator.estimate("a", now)
        values = [estimate.level, estimate.dispersion, *estimate.rates.values()]
        assert all(math.isfinite(one) and one >= 0 for one in values)


@given(st.lists(st.tuples(st.floats(0, 5), st.integers(0, 100)), max_size=30))
@settings(max_examples=100, deadline=None)
def test_arrivals_are_neither_lost_nor_invented(reports: list[tuple[float, int]]) -> None:
    arrivals, now = Arrivals(), 100.0
    start = now
    for gap, count in reports:
        arrivals.add(count, now, now + gap + 0.01)
        now += gap + 0.01
    if now - start < 30:
        assert arrivals.rate(now, 31.0) * 31 == pytest.approx(sum(count for _, count in reports), abs=1e-6)


def test_the_margin_grows_with_the_square_root_of_demand() -> None:
    small, large = (planned_demand(rate, 1.0, 0.2, SETTINGS) for rate in (1.0, 100.0))
    assert small == pytest.approx(1.05 + math.sqrt(10)) and large == pytest.approx(105 + math.sqrt(1000))
    assert planned_demand(0.0, 3.0, 0.2, SETTINGS) == 0.0


def rate(value: float, dispersion: float = 1.0) -> Estimate:
    return Estimate(value, dict.fromkeys(WINDOWS, value), dispersion)


def test_a_burst_is_more_than_ratio_and_noise_explain() -> None:
    assert burst({"a": rate(159)}, {"a": 100.0}, SETTINGS) is None
    assert burst({"a": rate(161)}, {"a": 100.0}, SETTINGS) is not None
    assert burst({"a": rate(161, dispersion=4)}, {"a": 100.0}, SETTINGS) is None


def test_single_queries_are_no_burst() -> None:
    assert burst({"a": rate(4)}, {"a": 0.0}, SETTINGS) is None
    assert burst({"a": rate(5)}, {"a": 0.0}, SETTINGS) is not None


def test_violations_of_a_tenth_of_a_workers_queries_are_a_reason_to_plan() -> None:
    def device(violations: float) -> dict[str, Device]:
        return {"d": Device(DeviceReport("d", "big", arrival_rate=50, violation_rate=violations), "p", "h:1", 1)}

    assert violations(device(4), {"d": "a"}) is None
    found = violations(device(6), {"d": "a"})
    assert found is not None and found.applications == {"a"}


def test_hold_off_covers_a_slow_solve() -> None:
    assert hold_off(SETTINGS, 0.1) == 1.0 and hold_off(SETTINGS, 4.0) == 4.5


def test_silence_before_the_first_query_is_not_taken_for_demand() -> None:
    estimator, now = fed([[0] * 160 + [5] * 4])
    estimate = estimator.estimate("a", now)
    assert all(estimate.rates[window] == pytest.approx(20) for window in WINDOWS)
    assert estimate.level == pytest.approx(20)


def test_what_was_expected_counts_until_enough_was_seen() -> None:
    estimator = DemandEstimator({"a": 40.0})
    estimator.add(0, (Tally("a", 5.0, 0),), 5.0)
    seen = {}
    for step in range(1, 80):
        now = 5.0 + step * 0.25
        estimator.add(0, (Tally("a", 0.25, 20),), now)
        estimator.tick(now)
        seen[step * 0.25] = estimator.estimate("a", now)
    assert seen[0.25].rates[10.0] == pytest.approx((0.25 * 80 + 3 * 40) / 3.25)
    assert seen[3.0].rates[10.0] == pytest.approx(60)
    assert seen[1.0].rates[1.0] == seen[3.0].rates[3.0] == seen[10.0].rates[10.0] == pytest.approx(80)
    assert 40 < seen[0.5].level < seen[5.0].level < seen[19.0].level == pytest.approx(80, rel=0.05)


def test_an_application_that_comes_back_is_measured_and_no_longer_expected() -> None:
    estimator = DemandEstimator({"a": 1000.0})
    for step in range(1, 41):
        if step == 20:
            estimator.forget("a")
        estimator.add(0, (Tally("a", 0.25, 5), Tally("b", 0.25, 5)), step * 0.25)
        estimator.tick(step * 0.25)
    assert estimator.estimate("a", 10.0).level == pytest.approx(20)
