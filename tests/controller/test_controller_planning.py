"""The controller as a machine: when it plans, what it publishes, and what it leaves alone."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from controller_stories import World, world_of

FOUR = ("big-0", "big-1", "little-0", "little-1")


def published(world: World, since: int) -> int:
    return len(world.plans()) - since


def test_every_application_is_served_before_any_query_came() -> None:
    world = world_of(*FOUR)
    assert {name.partition("/")[0] for name in world.hosted().values()} == {"pets", "cars"}
    assert len(world.plan.assignments) == 4
    assert world.conductor.publisher.snapshot.routes


def test_without_demand_the_most_accurate_variants_are_loaded() -> None:
    assert set(world_of(*FOUR).hosted().values()) == {"pets/large", "cars/large"}


def test_rising_demand_is_met_with_faster_variants_and_ebbing_demand_with_accurate_ones() -> None:
    world = world_of(*FOUR)
    world.run(60, {"pets": 20, "cars": 5})
    calm = world.hosted()
    world.run(60, {"pets": 250, "cars": 20})
    busy = world.hosted()
    world.run(60, {"pets": 20, "cars": 5})
    assert set(calm.values()) == {"pets/large", "cars/large"}
    assert "pets/small" in busy.values()
    assert "pets/small" not in world.hosted().values()
    assert all(value == 1.0 for value in world.plan.served.values())


def test_a_burst_is_answered_long_before_the_period_ends() -> None:
    world = world_of(*FOUR, period=30.0)
    world.run(35, {"pets": 20, "cars": 5})
    before = world.plan.version
    world.run(3, {"pets": 200, "cars": 5})
    assert world.plan.version > before
    assert world.plan.trigger.startswith("burst: pets")


def test_several_routers_add_up() -> None:
    world = world_of(*FOUR)
    world.run(40, {"pets": 120, "cars": 5}, routers=3)
    assert world.conductor.estimates(world.now)["pets"].level == pytest.approx(120, rel=0.2)


def test_steady_demand_at_a_boundary_changes_the_plan_at_most_once_a_minute() -> None:
    for rate in (60, 75, 80):  # two large ones carry 80
        world = world_of(*FOUR, period=5.0)
        world.run(40, {"pets": rate, "cars": 10})
        since = len(world.plans())
        world.run(180, {"pets": rate, "cars": 10})
        assert published(world, since) <= 3, rate


def test_steady_demand_far_from_any_boundary_changes_nothing() -> None:
    world = world_of(*FOUR, period=5.0)
    world.run(40, {"pets": 30, "cars": 10})
    since = len(world.plans())
    world.run(120, {"pets": 30, "cars": 10})
    assert published(world, since) == 0


def test_when_traffic_ends_the_plan_rests_within_two_periods_and_holds_no_nan() -> None:
    world = world_of(*FOUR, period=30.0)
    world.run(60, {"pets": 200, "cars": 20})
    world.run(60, {})
    estimates = world.conductor.estimates(world.now)
    numbers = [one.level for one in estimates.values()] + [one.dispersion for one in estimates.values()]
    numbers += [one.share for one in world.plan.assignments] + [world.plan.objective, world.plan.gap, world.plan.phi]
    assert all(math.isfinite(one) for one in numbers)
    assert [one.level for one in estimates.values()] == [0.0, 0.0]
    assert {one.application for one in world.plan.assignments} == {"pets", "cars"}


def test_a_worker_added_by_hand_is_used() -> None:
    world = world_of("big-0", "little-0")
    world.attach("big-1")
    world.run(3)
    assert "big-1" in world.hosted()


def test_routes_follow_readiness_and_the_old_variant_serves_until_the_new_one_is_ready() -> None:
    world = world_of(*FOUR)
    world.loading = 5.0
    world.run(3, {"pets": 250, "cars": 20})
    planned = world.hosted()
    moving = [name for name, what in planned.items() if what == "pets/small"]
    assert moving
    routes = {one.worker: one for one in world.conductor.publisher.snapshot.routes}
    assert all("small" not in routes[name].variants for name in moving)
    world.run(8, {"pets": 250, "cars": 20})
    routes = {one.worker: one for one in world.conductor.publisher.snapshot.routes}
    assert any(one.variants == ("small",) for one in routes.values())


def test_under_overload_every_application_is_served_alike() -> None:
    world = world_of(*FOUR)
    world.run(60, {"pets": 1500, "cars": 300})
    assert world.plan.phi < 1
    assert min(world.plan.served.values()) > 0.6 * max(world.plan.served.values())


def test_no_application_is_ever_out_of_service_while_plans_change() -> None:
    world = world_of(*FOUR, period=5.0)
    for rate in (20, 300, 40, 500, 5, 0, 250):
        for _ in range(40):
            world.run(0.25, {"pets": rate, "cars": rate / 5})
            assert {one.application for one in world.conductor.publisher.snapshot.routes} == {"pets", "cars"}
    assert len(world.plans()) >= 5


def test_a_plan_kept_is_measured_by_the_demand_of_now() -> None:
    world = world_of(*FOUR)
    world.run(60, {"pets": 20, "cars": 5})
    version = world.plan.version
    world.run(60, {"pets": 30, "cars": 5})
    assert world.plan.version == version
    assert world.plan.demand["pets"] > 30


def test_a_plan_kept_although_it_lacks_part_of_the_margin_is_no_overload() -> None:
    world = world_of(*FOUR)
    world.run(60, {"pets": 100, "cars": 5})
    version = world.plan.version
    world.run(60, {"pets": 125, "cars": 5})
    assert world.plan.version == version
    assert world.plan.phi > 0.98


def test_a_device_that_becomes_slower_than_its_profile_is_planned_for_as_it_is() -> None:
    """Two devices carry the demand with their medium variant; twice as slow, they must give way further."""
    world = world_of("big-0", "big-1", applications=("pets",))
    world.run(60, {"pets": 130.0})
    before = world.hosted()
    for one in world.devices.values():
        one.report = replace(one.report, stretch=2.0)
    world.run(5, {"pets": 130.0})
    trigger = world.plan.trigger
    assert "takes 2 times its profile" in trigger, trigger
    assert world.hosted() != before and "pets/small" in world.hosted().values()
    for one in world.devices.values():
        one.report = replace(one.report, stretch=1.0)
    world.run(60, {"pets": 130.0})
    assert world.hosted() == before


def test_one_slow_device_among_alike_ones_is_given_less_to_do() -> None:
    world = world_of("big-0", "big-1", "big-2", applications=("pets",))
    world.run(30, {"pets": 60.0})
    world.devices["big-1"].report = replace(world.devices["big-1"].report, stretch=2.0)
    world.run(40, {"pets": 60.0})
    capacity = {one.worker: one.capacity for one in world.plan.assignments if one.ceiling == "large"}
    assert len(world.plan.assignments) == 3
    assert capacity.get("big-1", 20.0) <= 20.0
