"""The controller as a machine: when it plans, what it publishes, and what it leaves alone."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from controller_stories import World, cluster_of, profile_of, source_of, world_of

from tidewise.controller.conductor import Conductor
from tidewise.controller.events import ApplicationApplied, ApplicationRemoved
from tidewise.controller.planner import Keep
from tidewise.core.plan import consistent

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


def test_a_lost_worker_leaves_the_routes_at_once_and_comes_back_with_its_stream() -> None:
    world = world_of(*FOUR)
    world.lose("big-0")
    assert "big-0" not in {one.worker for one in world.conductor.publisher.snapshot.routes}
    world.run(0.25)
    world.attach("big-0")
    assert "big-0" in {one.worker for one in world.conductor.publisher.snapshot.routes}


def test_a_lost_worker_is_planned_around() -> None:
    world = world_of(*FOUR)
    world.run(40, {"pets": 60, "cars": 30})
    world.lose("big-0")
    world.run(5, {"pets": 60, "cars": 30})
    assert "big-0" not in world.hosted()
    assert world.plan.trigger.startswith("devices: big-0 left")
    consistent(world.plan, world.conductor.registry.applications, world.attached)


def test_a_worker_added_by_hand_is_used() -> None:
    world = world_of("big-0", "little-0")
    world.attach("big-1")
    world.run(3)
    assert "big-1" in world.hosted()


def test_a_draining_worker_gets_no_route_and_no_part_in_the_next_plan() -> None:
    world = world_of(*FOUR)
    device = world.devices["big-0"]
    device.report = replace(device.report, draining=True)
    world.run(0.25)
    assert "big-0" not in {one.worker for one in world.conductor.publisher.snapshot.routes}
    world.run(4)
    assert "big-0" not in world.hosted()


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


def test_a_hung_solver_leaves_the_last_plan_and_the_reason_is_told() -> None:
    world = world_of(*FOUR)
    before = world.plan
    world.broken = "the solver did not answer within 5 s and was killed"
    world.run(10, {"pets": 250})
    assert world.plan == before
    assert world.conductor.failure == world.broken
    assert len(world.failures()) < 10  # not again and again in every tick
    world.broken = ""
    world.run(40, {"pets": 250})
    assert world.plan.version > before.version
    assert world.conductor.failure == ""


def test_an_answer_that_breaks_its_promises_is_refused() -> None:
    world = world_of(*FOUR)
    before = world.plan
    world.lie = True
    world.run(5, {"pets": 250})
    assert world.plan == before
    assert "exist" in world.conductor.failure


def test_with_no_solver_at_all_something_serves() -> None:
    world = world_of()
    world.broken = "no solver"
    world.attach(*FOUR)
    world.run(5, {"pets": 100, "cars": 10})
    assert {one.application for one in world.plan.assignments} == {"pets", "cars"}
    assert world.plan.status == "fallback"


def test_an_answer_about_a_worker_that_left_meanwhile_is_dropped_and_asked_again() -> None:
    world = world_of(*FOUR)
    world.solving = 1.0
    while not world.solves:
        world.run(0.25, {"pets": 250})
    world.lose("big-1")
    world.run(1.25, {"pets": 250})
    assert any(isinstance(one, Keep) and "left while" in one.reason for _, one in world.actions)
    world.run(4, {"pets": 250})
    assert "big-1" not in world.hosted()


def test_only_one_solve_is_in_flight() -> None:
    world = world_of(*FOUR)
    world.solving = 3.0
    for rate in (50, 400, 100, 800):
        world.run(2, {"pets": rate})
        assert len(world.solves) <= 1


def test_a_file_a_worker_cannot_load_is_tried_again_then_planned_around() -> None:
    world = world_of("big-0", "big-1", applications=("pets",))
    world.devices["big-0"].cannot = {"pets-small-1"}
    world.run(20, {"pets": 500})
    assert world.hosted()["big-1"] == "pets/small"
    assert world.hosted()["big-0"] != "pets/small"
    assert ("big-0", "pets-small-1") in world.conductor.quarantine.why
    assert world.conductor.refusals["big"] == 2


def test_a_file_two_workers_cannot_load_is_barred_everywhere() -> None:
    world = world_of("big-0", "big-1", "big-2", applications=("pets",))
    for name in ("big-0", "big-1", "big-2"):
        world.devices[name].cannot = {"pets-small-1"}
    world.run(40, {"pets": 600})
    assert "pets/small" not in world.hosted().values()
    assert len(world.conductor.quarantine.barred(["big-2"])) == 1


def test_a_worker_that_restarts_is_trusted_again() -> None:
    world = world_of("big-0", "big-1", applications=("pets",))
    world.devices["big-0"].cannot = {"pets-small-1"}
    world.run(20, {"pets": 500})
    world.conductor.quarantine.seen("big-0", "another process")
    assert not world.conductor.quarantine.barred(["big-0"])


def test_removing_an_application_withdraws_it_at_once() -> None:
    world = world_of(*FOUR)
    world._step(ApplicationRemoved("pets"))
    assert all(one.application == "cars" for one in world.plan.assignments)
    assert "pets" not in world.conductor.publisher.snapshot.applications
    world.run(3)
    assert len(world.plan.assignments) == 4


def test_an_application_nobody_measured_is_measured_by_one_worker_of_each_type_then_planned() -> None:
    world = world_of(*FOUR, applications=("pets",))
    world.apply(source_of("cars"))
    world.run(1)
    asked = world.conductor.measures
    assert {one.application for one in asked} == {"cars"}
    assert sorted(one.device.partition("-")[0] for one in asked) == ["big", "little"]
    assert "cars" not in {one.application for one in world.plan.assignments}
    world.profile = profile_of("pets", "cars")
    world.attach("big-0")
    world.run(4)
    assert "cars" in {one.application for one in world.plan.assignments}
    assert not world.conductor.measures


def test_what_one_device_measured_is_told_to_all_of_its_type() -> None:
    world = world_of(*FOUR, applications=("pets",))
    for device in FOUR:
        (known,) = world.conductor.order(device).profiles
        assert {one.device_type for one in known.entries.values()} == {device.partition("-")[0]}


def test_a_controller_that_starts_again_goes_on_with_its_plan_and_withdraws_what_is_gone() -> None:
    plan = world_of(*FOUR).plan
    again = Conductor(cluster_of())
    for name in ("pets", "cars"):
        again.step(ApplicationApplied(source_of(name), source_of(name).parse()), 0.0)
    again.resume(plan, 0)
    assert again.planner.plan == plan
    without_cars = Conductor(cluster_of())
    without_cars.step(ApplicationApplied(source_of("pets"), source_of("pets").parse()), 0.0)
    without_cars.resume(plan, 0)
    assert {one.application for one in without_cars.planner.plan.assignments} == {"pets"}
    assert without_cars.planner.plan.version > plan.version


def test_new_files_under_known_names_are_served_while_they_are_measured() -> None:
    world = world_of(*FOUR, applications=("pets",))
    world.apply(source_of("pets", stamp="2"))
    world.run(4)
    assert world.conductor.measures
    assert {one.application for one in world.plan.assignments} == {"pets"}
    assert world.conductor.publisher.snapshot.routes


def test_a_variant_that_does_not_fit_a_device_is_not_planned_there() -> None:
    world = World(world_of().conductor, profile=profile_of("pets", memory=200))
    world.apply(source_of("pets"))
    world.attach("big-0", memory=100)
    world.attach("big-1", memory=300)
    world.run(4)
    assert set(world.hosted()) == {"big-1"}


def test_static_policies_do_not_follow_demand() -> None:
    world = world_of(*FOUR, policy="clipper-ha", period=5.0)
    world.run(20, {"pets": 20, "cars": 5})
    since = len(world.plans())
    world.run(60, {"pets": 400, "cars": 5})
    assert published(world, since) == 0
    assert set(world.hosted().values()) == {"pets/large", "cars/large"}


def test_the_cheapest_policy_hosts_only_the_cheapest() -> None:
    world = world_of(*FOUR, policy="clipper-ht")
    world.run(40, {"pets": 100, "cars": 5})
    assert set(world.hosted().values()) == {"pets/small", "cars/small"}


def test_under_overload_every_application_is_served_alike() -> None:
    world = world_of(*FOUR)
    world.run(60, {"pets": 1500, "cars": 300})
    assert world.plan.phi < 1
    assert min(world.plan.served.values()) > 0.6 * max(world.plan.served.values())


def test_workers_with_warm_siblings_get_them_in_order_of_accuracy() -> None:
    world = world_of(*FOUR, choice="drain")
    assert {one.warm for one in world.plan.assignments} == {("large", "medium", "small")}
    assert {one.ceiling for one in world.plan.assignments} == {"large"}
