"""Demand, triggers and the registry: what is known, and when it is reason enough."""

from __future__ import annotations

import math
import random

import pytest
from controller_stories import application_of, profile_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tidewise.controller.arrivals import Arrivals
from tidewise.controller.demand import DemandEstimator
from tidewise.controller.measuring import Measuring
from tidewise.controller.quarantine import Quarantine
from tidewise.controller.registry import SILENCE, Device, Registry
from tidewise.controller.rejoin import GRACE, Rejoining
from tidewise.controller.triggers import burst, hold_off, overload
from tidewise.core.cluster import PlannerSettings
from tidewise.core.demand import WINDOWS, Estimate, planned_demand
from tidewise.core.plan import EMPTY_PLAN
from tidewise.core.report import DeviceReport, Holding, RouterReport, WorkerReport
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


def test_violations_of_a_tenth_of_a_workers_queries_are_an_overload() -> None:
    def device(violations: float) -> dict[str, Device]:
        return {"d": Device(DeviceReport("d", "big", arrival_rate=50, violation_rate=violations), "p", "h:1", 1)}

    assert overload(device(4), {"d": "a"}) is None
    found = overload(device(6), {"d": "a"})
    assert found is not None and found.applications == {"a"}


def test_hold_off_covers_a_slow_solve() -> None:
    assert hold_off(SETTINGS, 0.1) == 1.0 and hold_off(SETTINGS, 4.0) == 4.5


def report(*names: str, process: str = "p", **fields: object) -> WorkerReport:
    return WorkerReport(process, "h:1", tuple(DeviceReport(one, "big", **fields) for one in names))  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(st.sampled_from(["report", "lost", "tick"]), st.integers(1, 4), st.integers(0, 7)), max_size=30)
)
@settings(max_examples=200, deadline=None)
def test_whatever_happens_devices_belong_to_live_streams(events: list[tuple[str, int, int]]) -> None:
    registry, now, live = Registry(), 0.0, set()
    for what, connection, bits in events:
        now += 0.3
        before = set(registry.devices())
        if what == "report":
            names = [f"d{i}" for i in range(3) if bits >> i & 1]
            facts = registry.worker_reported(connection, report(*names, process=f"p{connection}"), now)
            live.add(connection)
        elif what == "lost":
            facts = registry.worker_lost(connection)
            live.discard(connection)
        else:
            facts = registry.tick(now)
        after = set(registry.devices())
        assert {one.connection for one in registry.devices().values()} <= live
        assert facts.gained >= after - before and facts.lost >= before - after
        assert not set(registry.departed) & after


def test_a_device_belongs_to_the_newest_stream_that_names_it() -> None:
    registry = Registry()
    registry.worker_reported(1, report("d", process="old"), 0.0)
    facts = registry.worker_reported(2, report("d", process="new"), 0.1)
    assert facts.superseded == ("d",)
    registry.worker_reported(1, report("d", process="old"), 0.2)
    registry.worker_lost(1)
    assert registry.devices()["d"].process == "new"


def test_a_silent_worker_is_gone_until_it_speaks() -> None:
    registry = Registry()
    registry.worker_reported(1, report("d"), 0.0)
    now = 0.0
    while now < SILENCE + 0.5:
        now += 0.25
        facts = registry.tick(now)
        if facts.lost:
            break
    assert now > SILENCE and not registry.devices()
    assert registry.worker_reported(1, report("d"), now + 5).gained == {"d"}


def test_a_controller_that_slept_does_not_blame_the_workers() -> None:
    registry = Registry()
    registry.worker_reported(1, report("d"), 0.0)
    registry.tick(0.1)
    assert not registry.tick(60.0).lost


def test_profiles_are_learnt_once() -> None:
    registry = Registry()
    told = WorkerReport("p", "h:1", (), (profile_of("a"),))
    assert registry.worker_reported(1, told, 0.0).profiles
    assert not registry.worker_reported(1, told, 0.1).profiles


def test_readiness_changes_are_facts_and_counts_are_not() -> None:
    registry = Registry()
    registry.worker_reported(1, report("d"), 0.0)
    assert not registry.worker_reported(1, report("d", queued=5, arrival_rate=3.0), 0.1).readiness
    assert registry.worker_reported(1, report("d", warm=(Holding("a", "v", "x"),)), 0.2).readiness


def test_routers_come_and_go() -> None:
    registry = Registry()
    registry.router_reported(1, RouterReport("r", "h:1"))
    registry.router_lost(1)
    registry.router_lost(1)
    assert not registry.routers


def test_one_refusal_is_forgiven_two_are_not() -> None:
    quarantine = Quarantine()
    assert not quarantine.refused("d", ["x"], "why")
    assert quarantine.refused("d", ["x"], "why")
    assert quarantine.barred(["d", "e"]) == {("d", "x")}
    quarantine.keep_only([])
    assert not quarantine.barred(["d"])


def test_measuring_stays_with_one_idle_device_of_a_type() -> None:
    devices = {name: Device(DeviceReport(name, "big", queued=q), "p", "h:1", 1) for name, q in (("d0", 3), ("d1", 0))}
    measuring = Measuring()
    pets = {"pets": application_of("pets")}
    first = measuring.requests(pets, devices, profile_of(), EMPTY_PLAN, 0.0)
    assert [one.device for one in first] == ["d1"] and first[0].variants == ("large", "medium", "small")
    busy = {**devices, "d1": Device(DeviceReport("d1", "big", queued=9), "p", "h:1", 1)}
    assert [one.device for one in measuring.requests(pets, busy, profile_of(), EMPTY_PLAN, 1.0)] == ["d1"]
    assert not measuring.requests(pets, busy, profile_of("pets"), EMPTY_PLAN, 2.0)


def test_a_new_cluster_is_spoken_to_at_once_and_a_running_one_when_it_is_back() -> None:
    fresh = Rejoining()
    fresh.tick(0.0)
    assert fresh.done
    running = Rejoining()
    running.expect({"d0", "d1"})
    running.reported(report("d0"))
    running.tick(0.0)
    assert not running.done
    running.reported(report("d1"))
    running.tick(0.3)
    assert running.done


def test_waiting_for_a_running_cluster_has_an_end() -> None:
    running = Rejoining()
    running.expect({"d0"})
    running.tick(0.0)
    running.tick(GRACE - 0.1)
    assert not running.done
    running.tick(GRACE)
    assert running.done
