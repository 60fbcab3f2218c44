"""Handing devices over: who waits for whom while families move."""

from __future__ import annotations

from controller_stories import World, source_of, world_of
from hypothesis import given
from hypothesis import strategies as st

from tidewise.controller.events import ApplicationRemoved
from tidewise.controller.handover import held_back

CAPACITY = {("big", "a"): 10.0, ("big", "b"): 10.0, ("big", "c"): 10.0}


def waiting(targets: dict[str, str], serves: dict[str, str], rates: dict[str, float]) -> set[str]:
    """Who is held back where every device was told to serve what it serves."""
    return set(held_back({d: ("big", name) for d, name in targets.items()}, serves, serves, CAPACITY, rates))


def test_the_last_device_of_an_application_waits_for_its_successor() -> None:
    serves = {"x": "a", "y": "b", "z": "b"}
    assert waiting({"x": "b", "y": "a", "z": "b"}, serves, {"a": 5.0, "b": 5.0}) == {"x"}


def test_only_as_many_wait_as_the_rate_asks_for() -> None:
    serves = {"v": "a", "w": "a", "x": "a", "y": "b", "z": "b"}
    targets = {"v": "b", "w": "b", "x": "b", "y": "a", "z": "a"}
    assert waiting(targets, serves, {"a": 15.0, "b": 0.0}) == {"v", "w"}
    assert not waiting(targets, serves, {"a": 0.0, "b": 0.0})


def test_an_application_waits_also_for_a_device_that_waits_itself() -> None:
    serves = {"x": "a", "y": "b", "z": "c"}
    assert waiting({"x": "c", "y": "a", "z": "b"}, serves, {"a": 5.0, "b": 5.0, "c": 0.0}) == {"x", "y"}


def test_nobody_waits_where_the_application_is_to_have_less() -> None:
    assert not waiting({"x": "b", "y": "a"}, {"x": "a", "y": "a"}, {"a": 100.0, "b": 5.0})


def test_those_who_would_wait_for_one_another_do_not() -> None:
    assert not waiting({"x": "b", "y": "a"}, {"x": "a", "y": "b"}, {"a": 5.0, "b": 5.0})


def test_who_is_on_its_way_is_not_called_back() -> None:
    targets = {"x": ("big", "b"), "y": ("big", "a")}
    assert not held_back(targets, {"x": "b", "y": "a"}, {"x": "a", "y": "c"}, CAPACITY, {"a": 5.0})


def test_a_device_whose_kind_can_no_longer_answer_an_application_leaves_it_at_once() -> None:
    world = world_of("big-0", "big-1", "little-0", policy="tidewise", choice="anytime", period=3.0)
    world.run(20, {"pets": 60, "cars": 420})
    assert world.hosted()["little-0"].startswith("pets/")
    world.run(6, {"pets": 60, "cars": 200})
    world.apply(source_of("pets", slo_ms=7.0))  # a single query takes a little device 6.7 ms
    world.run(8, {"pets": 60, "cars": 200})
    assert {name.partition("/")[0] for one, name in world.hosted().items() if one == "little-0"} == {"cars"}
    assert "pets" in {name.partition("/")[0] for name in world.hosted().values()}


names = st.sampled_from("abc")


@given(st.lists(st.tuples(names, names), max_size=8), st.fixed_dictionaries({n: st.floats(0, 50) for n in "abc"}))
def test_some_move_can_always_begin(moves: list[tuple[str, str]], rates: dict[str, float]) -> None:
    serves = {str(n): before for n, (before, _) in enumerate(moves)}
    targets = {str(n): after for n, (_, after) in enumerate(moves)}
    movers = {device for device in targets if serves[device] != targets[device]}
    held = waiting(targets, serves, rates)
    assert held <= movers and (not movers or held < movers)


class Uneven(World):
    """Some loads take long, others next to nothing."""

    loading = property(lambda self: self.rng.choice((0.25, 4.0)), lambda self, value: None)


def test_no_application_is_without_a_worker_while_families_move() -> None:
    world = world_of("big-0", "big-1", "little-0", policy="tidewise", choice="anytime", period=5.0)
    world.__class__ = Uneven
    for rates in ({"pets": 200, "cars": 10}, {"pets": 10, "cars": 200}) * 4:
        for _ in range(60):
            world.run(0.25, rates)
            assert {route.application for route in world.conductor.publisher.snapshot.routes} == {"pets", "cars"}


def test_an_application_may_be_removed_while_devices_are_leaving_it() -> None:
    world = world_of("big-0", "big-1", "little-0", policy="tidewise", choice="anytime", period=3.0)
    world.run(10, {"pets": 200, "cars": 10})
    world.loading = 6.0
    left: set[str] = set()
    while not left:
        world.run(0.25, {"pets": 10, "cars": 200})
        served = {name: one.report.warm[0].application for name, one in world.devices.items() if one.report.warm}
        left = {served[one.worker] for one in world.plan.assignments if served[one.worker] != one.application}
    world._step(ApplicationRemoved(left.pop()))
    world.run(20)
    assert len({name.partition("/")[0] for name in world.hosted().values()}) == 1


def test_an_application_that_no_device_can_answer_may_be_removed_while_a_plan_is_made() -> None:
    world = world_of("big-0", "little-0", policy="tidewise", choice="anytime", period=3.0)
    world.apply(source_of("cars", slo_ms=1.0))
    world.solving = 1.0
    while not world.solves:
        world.run(0.25, {"pets": 10})
    world._step(ApplicationRemoved("cars"))
    world.run(10, {"pets": 10})
    assert set(world.plan.served) == {"pets"}
