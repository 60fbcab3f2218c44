"""What the controller does when solvers, workers or model files fail."""

from __future__ import annotations

from dataclasses import replace

from controller_stories import cluster_of, source_of, world_of

from tidewise.controller.conductor import Conductor
from tidewise.controller.events import ApplicationApplied, SolveFailed
from tidewise.controller.planner import Keep
from tidewise.controller.policies import allocate_fast
from tidewise.core.plan import consistent

FOUR = ("big-0", "big-1", "little-0", "little-1")


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


def test_a_draining_worker_gets_no_route_and_no_part_in_the_next_plan() -> None:
    world = world_of(*FOUR)
    device = world.devices["big-0"]
    device.report = replace(device.report, draining=True)
    world.run(0.25)
    assert "big-0" not in {one.worker for one in world.conductor.publisher.snapshot.routes}
    world.run(4)
    assert "big-0" not in world.hosted()


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


def test_the_fast_plan_of_a_solver_that_failed_later_is_used_where_it_is_better() -> None:
    world = world_of("big-0", "big-1", period=5.0)
    world.solving = 1e9  # never answers by itself
    world.run(6, {"pets": 250, "cars": 10})
    asked = world.solves[-1][1]
    fast = allocate_fast(asked.case, asked.terms)
    before = world.plan.version
    world._step(SolveFailed(asked.ticket, "the solver hung", fast))
    assert world.failures() == ["the solver hung"]
    assert world.plan.version > before
    assert world.hosted() != {} and "pets/small" in world.hosted().values()
    world._step(SolveFailed(asked.ticket, "the solver hung", fast))
    assert world.failures() == ["the solver hung"], "a ticket is answered once"


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


def test_a_controller_that_starts_again_goes_on_with_its_plan_and_withdraws_only_what_is_gone() -> None:
    plan = world_of(*FOUR).plan
    for names in (("pets", "cars"), ("pets",)):
        again = Conductor(cluster_of())
        for name in names:
            again.step(ApplicationApplied(source_of(name), source_of(name).parse()), 0.0)
        again.resume(plan, 0)
        assert {one.application for one in again.planner.plan.assignments} == set(names)
        assert (again.planner.plan == plan) == (len(names) == 2)
        assert again.planner.plan.version == plan.version + (len(names) == 1)
