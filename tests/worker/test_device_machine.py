import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worker_stories import LARGE, OTHER, SMALL, World, order

from tidewise.core.outcome import Outcome, Reason
from tidewise.worker.actions import Answered, Ended, Start
from tidewise.worker.batching import RULES
from tidewise.worker.query import LaneKey


def test_a_queued_query_ends_at_its_deadline_while_the_device_is_busy() -> None:
    world = World(stretch=100.0)
    world.host(LARGE)
    world.send(9.0)
    second = world.send(0.2)
    world.until(9.0)
    assert world.ends()[second.id] == (pytest.approx(0.2), Reason.DEADLINE)
    assert world.batches() == [("large", 1, 1)]


@pytest.mark.parametrize("seed", range(10))
def test_the_queue_bound_is_exact_for_any_spacing_of_arrivals(seed: int) -> None:
    chance, world = random.Random(seed), World(max_queue=3, stretch=100.0)
    world.host(LARGE)
    for _ in range(50):
        world.send(60.0)
        assert len(world.device.queue) <= 3
        world.until(world.now + chance.uniform(0, 0.05))
    assert [reason for _, reason in world.ends().values()] == [Reason.QUEUE_FULL] * 46


def test_arrivals_during_a_batch_make_one_full_batch() -> None:
    world = World()
    world.host(LARGE)
    world.send(9.0)
    for _ in range(8):
        world.send(9.0)
    world.until(5.0)
    assert world.batches() == [("large", 1, 1), ("large", 8, 8)]


def test_a_query_of_many_rows_is_split_into_largest_batches_and_answered_once() -> None:
    world = World()
    world.host(LARGE)
    query = world.send(9.0, rows=20)
    world.until(5.0)
    assert world.batches() == [("large", 8, 8), ("large", 8, 8), ("large", 4, 4)]
    answers = [at for at, action in world.log if isinstance(action, Answered)]
    assert answers == [pytest.approx(0.12 + 0.12 + 0.08)]
    assert [query.id] == list(world.answers())


def test_a_more_urgent_query_runs_between_the_parts_of_a_large_one() -> None:
    world = World()
    world.host(LARGE)
    world.send(9.0, rows=20)
    urgent = world.send(0.2)
    world.until(5.0)
    assert [rows for _, rows, _ in world.batches()] == [8, 1, 8, 4]
    assert urgent.id in world.answers()


def test_all_parts_of_a_query_run_on_the_variant_that_ran_the_first() -> None:
    world = World(choice="anytime")
    world.host(LARGE, SMALL)
    large = world.send(0.5, rows=20)
    for _ in range(30):
        world.send(0.3)
    world.until(5.0)
    ran = {
        action.batch.servable.model.variant
        for _, action in world.log
        if isinstance(action, Start) and any(part.query is large for part in action.batch.parts)
    }
    assert len(ran) == 1


def test_a_cancelled_query_does_not_reach_the_engine_and_harms_nobody() -> None:
    world = World()
    world.host(LARGE)
    running, third, others = world.send(9.0), None, []
    for place in range(8):
        query = world.send(9.0)
        third = query if place == 2 else third
        others += [query] if place != 2 else []
    assert third is not None
    world.cancel(third)
    world.cancel(running)
    world.until(5.0)
    assert set(world.answers()) == {query.id for query in others}
    assert world.ends()[third.id] == (0.0, Reason.CANCELLED)
    assert world.batches() == [("large", 1, 1), ("large", 7, 8)]


def test_the_cheaper_sibling_takes_over_when_the_backlog_would_be_late() -> None:
    world = World(choice="anytime")
    world.host(LARGE, SMALL)
    for _ in range(30):
        world.send(0.3)
    world.until(5.0)
    assert set(world.answers().values()) == {"large", "small"}
    assert len(world.answers()) == 30


@pytest.mark.parametrize("choice", ["planned", "anytime"])
def test_answers_in_time_do_not_collapse_past_saturation(choice: str) -> None:
    """Open loop, 0.2 s to answer. The large variant carries 67 queries a second, the small one 333."""

    def in_time(rate: float) -> int:
        world, chance = World(choice=choice), random.Random(3)
        world.host(LARGE, SMALL)
        while world.now < 20.0:
            world.send(0.2)
            world.until(world.now + chance.expovariate(rate))
        return world.device.counters.outcomes[Outcome.ON_TIME]

    capacity = LARGE.rate if choice == "planned" else SMALL.rate
    assert in_time(3 * capacity) >= 0.9 * in_time(capacity)


def test_impatient_clients_who_ask_again_do_not_make_a_storm() -> None:
    """Many more clients than fit, each asking again as soon as it gives up: the device still works at capacity."""
    world = World()
    world.host(LARGE)
    waiting = {world.send(0.3).id for _ in range(60)}
    while world.now < 20.0:
        world.until(world.now + 0.01)
        over = waiting & (set(world.answers()) | set(world.ends()))
        waiting = (waiting - over) | {world.send(0.3).id for _ in over}
    assert world.device.counters.outcomes[Outcome.ON_TIME] >= 0.8 * LARGE.rate * 20.0


def test_draining_never_waits_for_more_queries() -> None:
    world = World(rule="deadline")
    world.host(LARGE)
    world.send(9.0)
    assert world.batches() == []
    world._do(world.device.drain(world.now))
    assert world.device.counters.dispatches == {"drain": 1}


def test_a_bad_query_fails_alone() -> None:
    world = World()
    world.host(LARGE)
    world.send(9.0)
    first, bad, last = (world.send(9.0) for _ in range(3))
    world.device.batch_done(0.05)
    actions = world.device.batch_done(0.2, {bad.id: "the model said no"})
    answered = [action.query.id for action in actions if isinstance(action, Answered)]
    failed = [(one.query.id, one.reason, one.text) for one in actions if isinstance(one, Ended)]
    assert answered == [first.id, last.id]
    assert failed == [(bad.id, Reason.ENGINE, "the model said no")]


def test_no_lane_waits_for_company_at_the_cost_of_another() -> None:
    world = World(rule="deadline")
    world.host(LARGE, SMALL)
    world.send(0.5)
    world.send(0.51, lane=LaneKey("pets", "", ((3,),)))
    world.until(2.0)
    assert len(world.answers()) == 2
    assert world.ends() == {}


steps = st.lists(
    st.tuples(
        st.sampled_from(["send", "send", "send", "cancel", "wait", "order"]),
        st.floats(0.0, 0.4),
        st.integers(1, 20),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(steps, st.sampled_from(sorted(RULES)), st.sampled_from(["planned", "anytime"]))
def test_every_query_ends_exactly_once_whatever_happens(
    history: list[tuple[str, float, int]], rule: str, choice: str
) -> None:
    world = World(rule, choice, max_queue=10)
    world.load = 0.1
    world.host(LARGE, SMALL)
    orders = [(LARGE, SMALL), (SMALL,), (OTHER,), (), (LARGE,)]
    lanes = [LaneKey("pets"), LaneKey("pets", "small"), LaneKey("pets", "", ((2,),)), LaneKey("cars")]
    sent = []
    for number, (step, seconds, size) in enumerate(history):
        if step == "send":
            sent.append(world.send(seconds, rows=size, lane=lanes[size % 4]))
        elif step == "cancel" and sent:
            world.cancel(sent[size % len(sent)])
        elif step == "order":
            world.order(order(number + 2, *orders[size % 5]))
        else:
            world.until(world.now + seconds / 4)
    world.until(world.now + 60.0)
    ended = [action.query.id for _, action in world.log if isinstance(action, Answered | Ended)]
    assert sorted(ended) == [query.id for query in sent]
    counters = world.device.counters
    assert sum(counters.outcomes.values()) == sum(counters.arrivals.values()) == len(sent)
    assert counters.outcomes[Outcome.LATE] == 0
    assert (
        sum(counters.dispatches.values())
        == len(world.batches())
        == sum(one.batches for one in counters.variants.values())
    )
    assert world.device.idle
    assert not world.device._gone
    assert world.held == {one.model for one in world.device.hosting.serving.warm}
