from pathlib import Path

from worker_stories import LARGE, OTHER, SMALL, World, order

import tidewise
from tidewise.core.outcome import Reason
from tidewise.worker.actions import Ended, Load, Unload
from tidewise.worker.hosting import TRANSITIONS, Event, State
from tidewise.worker.hosting_diagram import diagram
from tidewise.worker.query import LaneKey
from tidewise.worker.servable import Model, tabulated


def _loads(world: World) -> list[str]:
    return [action.model.variant for _, action in world.log if isinstance(action, Load)]


def _unloads(world: World) -> list[tuple[float, str]]:
    return [(at, action.model.variant) for at, action in world.log if isinstance(action, Unload)]


def test_every_state_can_be_left_and_every_listed_pair_leads_somewhere() -> None:
    assert {state for state, _ in TRANSITIONS} == set(State)
    assert {event for _, event in TRANSITIONS} == set(Event)


def test_the_old_variant_serves_until_the_new_one_is_ready() -> None:
    world = World()
    world.host(SMALL)
    world.order(order(2, LARGE))
    during = world.send(1.0)
    world.until(0.4)
    assert world.device.hosting.serving.version == 1
    world.until(0.6)
    after = world.send(1.0)
    world.until(2.0)
    assert world.answers() == {during.id: "small", after.id: "large"}
    assert world.device.hosting.serving.version == 2


def test_a_replaced_variant_lingers_for_late_queries_and_is_then_unloaded() -> None:
    world = World()
    world.host(SMALL)
    world.order(order(2, OTHER))
    world.until(1.0)
    late = world.send(1.0)
    world.until(10.0)
    assert world.answers() == {late.id: "small"}
    assert _unloads(world) == [(0.5 + world.device.repertoire.linger, "small")]
    too_late = world.send(1.0)
    assert world.ends()[too_late.id][1] == Reason.NO_WORKER


def test_a_stale_sender_cannot_keep_a_replaced_application_alive() -> None:
    world = World()
    world.host(SMALL)
    world.order(order(2, OTHER))
    while world.now < 5.0:
        world.send(0.5)
        world.until(world.now + 0.005)
    assert [variant for _, variant in _unloads(world)] == ["small"]


def test_what_is_loaded_is_not_loaded_again() -> None:
    world = World()
    world.host(LARGE, SMALL)
    world.order(order(2, LARGE, SMALL, ceiling=1))
    assert world.device.hosting.serving.version == 2
    world.order(order(3, SMALL))
    world.order(order(4, LARGE, SMALL))
    world.until(10.0)
    assert (_loads(world), _unloads(world), world.device.hosting.serving.version) == ([], [], 4)


def test_a_changed_file_is_another_model() -> None:
    world = World()
    world.host(SMALL)
    world.order(order(2, tabulated(Model("pets", "small", "s2"), {1: 0.01})))
    query = world.send(1.0)
    world.until(10.0)
    assert _loads(world) == ["small"]
    assert world.answers() == {query.id: "small"}
    after = world.send(1.0)
    world.until(11.0)
    assert after.id in world.answers()
    assert world.held == {Model("pets", "small", "s2")}


def test_a_newer_order_replaces_one_that_still_loads() -> None:
    world = World()
    world.host(SMALL)
    world.order(order(2, OTHER))
    world.until(0.2)
    world.order(order(3, LARGE))
    world.until(10.0)
    assert world.device.hosting.serving.version == 3
    assert world.held == {LARGE.model}
    assert [variant for _, variant in _unloads(world)] == ["only", "small"]


def test_an_order_whose_model_cannot_be_loaded_is_refused_and_the_old_one_stays() -> None:
    world = World()
    world.host(SMALL)
    world.broken = {LARGE.model}
    world.order(order(2, LARGE, OTHER))
    world.until(10.0)
    query = world.send(1.0)
    world.until(11.0)
    assert world.device.hosting.refused == (2, "the file is corrupt")
    assert world.answers() == {query.id: "small"}
    assert world.held == {SMALL.model}


def test_a_withdrawn_plan_unloads_after_the_queued_queries_are_done() -> None:
    world = World(stretch=100.0)  # the batch in the engine takes longer than the linger
    world.host(LARGE)
    first = world.send(60.0)
    world.order(order(2))
    world.until(4.9)
    assert _unloads(world) == []
    world.until(5.1)
    assert first.id in world.answers()
    assert [variant for _, variant in _unloads(world)] == ["large"]
    assert world.device.hosting.states == {}


def test_a_query_pinned_to_a_variant_runs_on_it_even_above_the_ceiling() -> None:
    world = World()
    world.host(LARGE, SMALL, ceiling=1)
    pinned, free = world.send(1.0, lane=LaneKey("pets", "large")), world.send(1.0)
    world.until(1.0)
    assert world.answers() == {pinned.id: "large", free.id: "small"}
    missing = world.send(1.0, lane=LaneKey("pets", "medium"))
    assert isinstance(world.log[-1][1], Ended)
    assert world.ends()[missing.id][1] == Reason.NO_WORKER


def test_the_diagram_in_the_documents_is_made_from_the_table() -> None:
    page = Path(tidewise.__file__).resolve().parent.parent / "docs" / "worker.md"
    assert diagram() in page.read_text(encoding="utf-8")


def test_two_files_of_one_variant_that_are_due_at_the_same_moment_are_both_let_go() -> None:
    world = World()
    world.host(SMALL)
    newer = tabulated(Model("pets", "small", "s2"), {1: 0.01}, version=1)
    for version, one in enumerate([newer, SMALL, OTHER], start=2):  # a new file, back to the old one, away from both
        world.order(order(version, one))
        world.until(world.now + 0.6)
    world._do(world.device.timer(60.0))  # a late one: the process was stopped meanwhile
    assert world.held == {OTHER.model}


MIDDLE = tabulated(Model("pets", "middle", "m1"), {1: 0.02, 4: 0.03}, version=3)


def test_a_variant_that_a_coming_plan_wants_again_serves_queries_pinned_to_it() -> None:
    world = World()
    world.host(LARGE, SMALL)
    world.order(order(2, OTHER))
    world.until(2.3)
    world.order(order(3, MIDDLE, SMALL))
    world.until(2.7)
    pinned = world.send(0.2, lane=LaneKey("pets", "small"))
    world.until(2.9)
    assert world.answers() == {pinned.id: "small"}


def test_a_plan_never_runs_on_what_has_been_let_go_of_it() -> None:
    world = World()
    world.host(LARGE, SMALL)
    world.order(order(2, OTHER))
    world.until(1.0)
    world.order(order(3, MIDDLE, SMALL))
    world.until(1.2)
    world.order(order(4))
    world.until(2.8)  # the large one is gone, the small one lingers a little longer
    assert world.held == {SMALL.model, OTHER.model}
    late = world.send(0.2)
    world.until(3.0)
    assert world.answers() == {late.id: "small"}


def test_where_memory_is_short_a_swap_keeps_the_ceiling_and_sheds_the_other_siblings() -> None:
    world = World(memory=140)
    world.host(LARGE, SMALL, ceiling=1)
    world.order(order(2, OTHER))
    assert [one.model.variant for one in world.device.hosting.serving.warm] == ["small"]
    assert world.device.hosting.serving.version == 1
    during = world.send(1.0)
    world.until(10.0)
    assert world.answers() == {during.id: "small"}
    assert _loads(world) == ["only"] and [one for _, one in _unloads(world)] == ["large", "small"]
    assert world.device.hosting.serving.version == 2


def test_where_memory_holds_one_variant_the_old_one_serves_what_is_queued_and_goes_first() -> None:
    world = World(memory=100)
    world.host(LARGE)
    world.order(order(2, OTHER))
    late = world.send(1.0)
    assert not world.device.hosting.serving.warm
    world.until(10.0)
    assert world.answers() == {late.id: "large"}
    gone, loaded = _unloads(world)[0][0], next(at for at, one in world.log if isinstance(one, Load))
    assert gone <= loaded
    assert world.device.hosting.serving.version == 2


def test_an_order_that_fails_brings_back_what_gave_way_to_it() -> None:
    world = World(memory=140)
    world.host(LARGE, SMALL, ceiling=1)
    world.broken.add(OTHER.model)
    world.order(order(2, OTHER))
    world.until(10.0)
    assert world.device.hosting.refused == (2, "the file is corrupt")
    assert [one.model.variant for one in world.device.hosting.serving.warm] == ["large", "small"]
    assert world.device.hosting.serving.version == 1


def test_what_gave_way_and_is_here_still_serves_again_as_soon_as_the_order_is_refused() -> None:
    world = World(memory=140)
    world.host(LARGE, SMALL, ceiling=1)
    world.order(order(2, OTHER))
    world._do(world.device.refused(3, "no such variant", world.now))
    assert [one.model.variant for one in world.device.hosting.serving.warm] == ["large", "small"]
    assert (world.device.hosting.serving.version, world.device.hosting.pending) == (1, None)


def test_where_swaps_block_a_device_serves_again_when_its_new_order_fails() -> None:
    world = World(staged=False)
    world.host(LARGE)
    world.broken = {OTHER.model}
    world.order(order(2, OTHER))
    world.until(1.0)  # failed before the old variant was let go
    assert [one.model.variant for one in world.device.hosting.serving.warm] == ["large"]
    assert (_loads(world), world.device.hosting.refused[0]) == (["only"], 2)


def test_an_older_order_that_fails_once_more_does_not_hide_that_a_newer_one_was_refused() -> None:
    world = World()
    world.host(SMALL)
    world.broken = {LARGE.model, OTHER.model}
    world.order(order(2, SMALL, LARGE))
    world.order(order(3, OTHER))
    world.until(10.0)
    assert world.device.hosting.refused == (3, "the file is corrupt")


def test_a_size_measured_anew_counts_though_the_order_moves_nothing() -> None:
    world = World(memory=140)
    world.host(SMALL)
    grown = tabulated(SMALL.model, {1: 0.01}, version=1, memory=90)
    world.order(order(2, grown))
    world.order(order(3, OTHER))
    assert world.device.hosting.states == {SMALL.model: State.LEAVING}
