"""Applications that come, go and change, and what is planned for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from controller_stories import LADDER, World, cluster_of, profile_of, source_of, world_of

from tidewise.controller.conductor import Conductor
from tidewise.controller.events import ApplicationRemoved
from tidewise.controller.policies import POLICIES
from tidewise.controller.status import status_message
from tidewise.controller.store import Store
from tidewise.controller.telemetry import Telemetry
from tidewise.controller.unprofiled import unprofiled
from tidewise.core.profile import Profile
from tidewise.core.report import Unprofiled
from tidewise.core.repository import ApplicationSource

FOUR = ("big-0", "big-1", "little-0", "little-1")


def published(world: World, since: int) -> int:
    return len(world.plans()) - since


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


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_cluster_of_which_nothing_was_measured_is_measured_and_then_planned(policy: str) -> None:
    world = World(Conductor(cluster_of(policy=policy)))
    world.apply(source_of("pets"))
    world.attach(*FOUR)
    world.run(3)
    assert world.conductor.speaking and world.conductor.measures
    assert any(world.conductor.order(connection).measures for connection in world.attached.values())
    world.profile = profile_of("pets")
    world.attach("big-0")
    world.run(40, {"pets": 10.0})
    assert {one.application for one in world.plan.assignments} == {"pets"}


def test_new_files_under_known_names_are_served_while_they_are_measured() -> None:
    world = world_of(*FOUR, applications=("pets",))
    world.apply(source_of("pets", stamp="2"))
    world.run(4)
    assert world.conductor.measures
    assert {one.application for one in world.plan.assignments} == {"pets"}
    assert world.conductor.publisher.snapshot.routes


def renamed(source: ApplicationSource) -> ApplicationSource:
    """The same application with a ladder of other names, and the versions of the old."""
    toml, accuracy = source.toml, source.accuracy_json
    for name in LADDER:
        toml = toml.replace(f'"{name}"', f'"{name}-new"')
        accuracy = accuracy.replace(f'"{name}"', f'"{name}-new"')
    return ApplicationSource(toml, accuracy, {f"{name}-new": digest for name, digest in source.digests.items()})


def test_an_application_replaced_by_one_with_other_variants_is_served_throughout() -> None:
    world = world_of(*FOUR, applications=("pets",))
    before = set(world.hosted().values())
    world.apply(renamed(source_of("pets", stamp="2")))
    for _ in range(16):  # the new ones are being measured
        world.run(0.25)
        assert len(world.conductor.publisher.snapshot.routes) == 4
    assert set(world.hosted().values()) == before
    known = profile_of("pets", stamp="2").entries.values()
    world.profile = Profile().with_entries([replace(one, variant=f"{one.variant}-new") for one in known])
    world.attach("big-0")
    for _ in range(40):
        world.run(0.25)
        assert world.conductor.publisher.snapshot.routes
    assert all(one.endswith("-new") for one in world.hosted().values()) and len(world.hosted()) == 4
    assert [one.name for one in world.conductor.registry.applications["pets"].variants] == list(
        renamed(source_of("pets")).digests
    )


def test_a_controller_that_starts_again_amid_a_replacement_goes_on_with_it(tmp_path: Path) -> None:
    world = world_of(*FOUR, applications=("pets",))
    new = renamed(source_of("pets", stamp="2"))
    world.apply(new)
    world.run(1)
    store = Store.open(tmp_path)
    store.keep_transitions(world.conductor.retiring.transitions)
    plan, before = world.plan, world.hosted()
    world.conductor = Conductor(cluster_of())
    world.attached = {}
    world.apply(new)  # all that the state folder holds of the application
    world.conductor.resume(plan, 0, store.last_transitions())
    world.run(1)  # nobody is back yet
    world.attach(*FOUR)
    for _ in range(20):
        world.run(0.25)
        assert len(world.conductor.publisher.snapshot.routes) == 4
    assert world.hosted() == before
    known = profile_of("pets", stamp="2").entries.values()
    world.profile = Profile().with_entries([replace(one, variant=f"{one.variant}-new") for one in known])
    world.attach("big-0")
    for _ in range(40):
        world.run(0.25)
        assert world.conductor.publisher.snapshot.routes
    assert all(one.endswith("-new") for one in world.hosted().values()) and len(world.hosted()) == 4
    assert not world.conductor.retiring.transitions


def test_a_replacement_by_something_else_meanwhile_is_not_gone_on_with() -> None:
    world = world_of(*FOUR, applications=("pets",))
    world.apply(renamed(source_of("pets", stamp="2")))
    transitions = world.conductor.retiring.transitions
    again = World(Conductor(cluster_of()))
    again.apply(source_of("pets", stamp="3"))
    again.conductor.resume(world.plan, 0, transitions)
    assert set(LADDER) == {one.name for one in again.conductor.registry.applications["pets"].variants}


def test_old_variants_that_cannot_answer_the_new_queries_end_at_once() -> None:
    world = world_of(*FOUR, applications=("pets",))
    other = renamed(source_of("pets", stamp="2"))
    world.apply(replace(other, toml=other.toml.replace("shape = [4]", "shape = [5]")))
    assert not world.plan.assignments


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


def test_workers_with_warm_siblings_get_them_in_order_of_accuracy() -> None:
    world = world_of(*FOUR, choice="drain")
    assert {one.warm for one in world.plan.assignments} == {("large", "medium", "small")}
    assert {one.ceiling for one in world.plan.assignments} == {"large"}


def test_demand_that_is_expected_is_planned_for_before_it_comes() -> None:
    world = World(
        Conductor(cluster_of(policy="static"), {"pets": 250.0, "cars": 5.0}), profile=profile_of("pets", "cars")
    )
    for name in ("pets", "cars"):
        world.apply(source_of(name))
    world.attach(*FOUR)
    world.run(3)
    assert "pets/small" in world.hosted().values()
    since = len(world.plans())
    world.run(60, {"pets": 20, "cars": 5})
    assert published(world, since) == 0


def test_a_variant_that_cannot_be_profiled_is_told_in_the_log_the_status_and_a_metric() -> None:
    world = world_of(*FOUR, applications=("pets",))
    world.apply(source_of("cars"))
    failed = Unprofiled("cars", "large", "its output is not a number")
    device = world.devices["big-0"]
    device.report = replace(device.report, unprofiled=(failed,))
    world.run(1)
    said = "cars/large is not planned on devices like big-0, which could not profile it: its output is not a number"
    assert world.conductor.warnings == [said]
    assert said in status_message(world.conductor, world.now, 1.0).last_failure
    telemetry = Telemetry()
    telemetry.tick(world.conductor, world.now)
    series = 'tidewise_controller_unprofiled{application="cars",device_type="big",variant="large"} 1.0'
    assert series in telemetry.metrics.text()
    world.profile = profile_of("pets", "cars")  # another device could
    world.attach("big-1")
    assert not list(unprofiled(world.conductor.registry))
