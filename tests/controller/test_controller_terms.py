"""Policy terms, from the words of the files through the conductor into the plan."""

from __future__ import annotations

from collections import Counter

import pytest
from controller_stories import World, cluster_of, profile_of, source_of

from tidewise.controller.conductor import Conductor
from tidewise.controller.planner import Solve
from tidewise.core.case import Case
from tidewise.core.cluster import PlannerSettings
from tidewise.core.scenario import ScenarioCase

PLAIN = {"sigma": 0.0, "headroom": 1.0, "hysteresis": 0.0}  # plans for the demand itself, whatever it changes


def world_with(devices: int, pets: str = "", cars: str = "", **planner: float) -> World:
    """Big devices (40, 100 or 300 queries/s at accuracies .95, .9, .8), and two applications with these extra keys."""
    world = World(Conductor(cluster_of(**(PLAIN | planner))), profile=profile_of("pets", "cars"))  # type: ignore[arg-type]
    world.apply(source_of("pets", extra=pets))
    world.apply(source_of("cars", extra=cars))
    world.attach(*(f"big-{number}" for number in range(devices)))
    return world


def variants(world: World, name: str) -> Counter[str]:
    """How many devices are to host each variant of an application."""
    return Counter(one.ceiling for one in world.plan.assignments if one.application == name)


def test_an_application_gets_its_minimum_of_replicas() -> None:
    for extra, number in (("", 1), ("min_replicas = 3", 3)):
        world = world_with(4, pets=extra)
        world.run(12, {"pets": 5, "cars": 60})
        assert variants(world, "pets").total() == number


def test_an_idle_application_gets_its_minimum_too() -> None:
    world = world_with(4, pets="min_replicas = 2")
    world.run(12, {"cars": 70})
    assert variants(world, "pets").total() == 2


def test_replicas_yield_to_demand() -> None:
    world = world_with(3, pets="min_replicas = 2")
    world.run(12, {"pets": 5, "cars": 450})
    assert variants(world, "cars") == {"small": 2}
    assert world.plan.phi > 0.9


def test_a_plan_in_force_is_left_for_missing_replicas() -> None:
    world = world_with(4, hysteresis=1.0)
    world.run(6, {"pets": 5, "cars": 60})
    assert variants(world, "pets").total() == 1
    world.apply(source_of("pets", extra="min_replicas = 3"))
    world.run(6, {"pets": 5, "cars": 60})
    assert variants(world, "pets").total() == 3


def test_an_accuracy_floor_holds_and_costs_served_queries() -> None:
    found = {}
    for extra in ("", "min_accuracy = 0.9"):
        world = world_with(2, pets=extra)
        world.run(12, {"pets": 150, "cars": 30})
        found[extra] = variants(world, "pets"), world.plan.served["pets"]
    assert found[""] == ({"small": 1}, 1.0)
    assert found["min_accuracy = 0.9"][0] == {"medium": 1}
    assert found["min_accuracy = 0.9"][1] < 0.8


def test_weight_decides_whose_accuracy_gives_way() -> None:
    for heavy, light in (("pets", "cars"), ("cars", "pets")):
        world = world_with(3, **{light: "weight = 0.01"})  # type: ignore[arg-type]
        world.run(12, {"pets": 55, "cars": 55})
        assert (variants(world, heavy), variants(world, light)) == ({"large": 2}, {"medium": 1})


def test_max_min_lifts_the_worst_application_first() -> None:
    rates = {"pets": 100, "cars": 82}
    unfair, fair = world_with(4, cars="weight = 0.01"), world_with(4, cars="weight = 0.01", max_min=True)
    for world in (unfair, fair):
        world.run(12, rates)
    assert (variants(unfair, "pets"), variants(unfair, "cars")) == ({"large": 3}, {"medium": 1})
    assert (variants(fair, "pets"), variants(fair, "cars")) == ({"large": 1, "medium": 1},) * 2


def test_an_application_s_own_headroom_takes_the_place_of_the_cluster_s() -> None:
    world = world_with(4, pets="headroom = 2.0", headroom=1.25)
    world.run(6, {"pets": 30, "cars": 30})
    asked = [action for _, action in world.actions if isinstance(action, Solve)][-1].case
    assert isinstance(asked, Case)
    assert asked.applications["pets"].headroom == pytest.approx(2.0)
    assert asked.applications["cars"].headroom == pytest.approx(1.25)


def test_burstiness_is_answered_with_headroom() -> None:
    for sigma in (0.0, 3.0):
        world = world_with(4, sigma=sigma)
        world.run(20, {"pets": 20, "cars": 20})
        assert (world.plan.demand["pets"] > 40) == (sigma > 0)


def test_a_swap_cost_avoids_loads_that_gain_little() -> None:
    for cost, then in ((0.0, "large"), (1.0, "medium")):
        world = world_with(2, swap_cost=cost, period=5.0)
        world.run(10, {"pets": 75, "cars": 30})
        assert variants(world, "pets") == {"medium": 1}
        world.run(30, {"pets": 25, "cars": 30})
        assert variants(world, "pets") == {then: 1}


def test_hysteresis_keeps_a_plan_that_still_does() -> None:
    for price, then in ((0.0, "large"), (0.9, "medium")):
        world = world_with(2, hysteresis=price, period=5.0)
        world.run(10, {"pets": 75, "cars": 30})
        world.run(30, {"pets": 25, "cars": 30})
        assert variants(world, "pets") == {then: 1}


def test_a_load_costs_its_part_of_the_swap_cost_of_the_whole_cluster() -> None:
    world = world_with(4, swap_cost=0.02, max_min=True)
    world.run(3)
    asked = next(action for _, action in world.actions if isinstance(action, Solve))
    assert (asked.terms.swap_cost, asked.terms.max_min) == (0.005, True)
    assert PlannerSettings().swap_cost == 0.0


def scenario_world(devices: int, pets: str = "", **planner: float) -> World:
    """The same under the default policy, which places families for several demands."""
    cluster = cluster_of("tidewise", "anytime", period=5.0, **planner)
    world = World(Conductor(cluster), profile=profile_of("pets", "cars"))
    world.apply(source_of("pets", extra=pets))
    world.apply(source_of("cars"))
    world.attach(*(f"big-{number}" for number in range(devices)))
    return world


def test_the_scenario_plan_gives_an_application_its_minimum_of_replicas() -> None:
    for extra, number in (("", 1), ("min_replicas = 3", 3)):
        world = scenario_world(5, pets=extra)
        world.run(12, {"pets": 2, "cars": 90})
        assert variants(world, "pets").total() == number


def test_the_scenario_plan_loads_nothing_below_the_accuracy_floor() -> None:
    for extra, fastest in (("", "small"), ("min_accuracy = 0.9", "medium")):
        world = scenario_world(4, pets=extra)
        world.run(12, {"pets": 150, "cars": 30})
        warm = {name for one in world.plan.assignments if one.application == "pets" for name in one.warm}
        assert fastest in warm
        assert ("small" in warm) == (fastest == "small")


def test_the_scenario_plan_takes_the_swap_cost_of_the_file() -> None:
    world = scenario_world(4, swap_cost=0.5)
    world.run(3)
    asked = next(action for _, action in world.actions if isinstance(action, Solve))
    assert asked.terms.swap_cost == 0.125


def test_an_application_s_own_headroom_is_in_every_scenario() -> None:
    world = scenario_world(5, pets="headroom = 3.0")
    world.run(30, {"pets": 5, "cars": 60})
    asked = [action for _, action in world.actions if isinstance(action, Solve)][-1].case
    assert isinstance(asked, ScenarioCase)
    assert max(row["pets"] for row in asked.demands) >= 3.0 * 5


def test_siblings_keep_the_floor_too() -> None:
    world = world_with(3, pets="min_accuracy = 0.85", policy="ilp", choice="anytime")  # type: ignore[arg-type]
    world.run(12, {"pets": 5, "cars": 5})
    assert all("small" not in one.warm for one in world.plan.assignments if one.application == "pets")
    assert any("small" in one.warm for one in world.plan.assignments if one.application == "cars")


def test_the_scenario_plan_takes_the_margins_of_the_files() -> None:
    def asked(pets: str = "", **planner: float) -> ScenarioCase:
        world = scenario_world(4, pets, **planner)
        world.run(8, {"pets": 30, "cars": 30})
        case = next(action for _, action in reversed(world.actions) if isinstance(action, Solve)).case
        assert isinstance(case, ScenarioCase)
        return case

    plain, wide, own = asked(sigma=0.0), asked(sigma=0.0, headroom=2.1), asked("headroom = 2.1", sigma=0.0)
    for usual, twice, mine in zip(plain.demands, wide.demands, own.demands, strict=True):
        assert twice["pets"] == pytest.approx(2 * usual["pets"])
        assert mine["pets"] == pytest.approx(2 * usual["pets"])
        assert mine["cars"] == pytest.approx(usual["cars"])
    most = [max(row["pets"] for row in asked(sigma=sigma).demands) for sigma in (0.0, 1.0, 2.0)]
    assert most[0] < most[1] < most[2]
