import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worker_stories import PETS

from tidewise.worker.query import LaneKey, Query
from tidewise.worker.queue import Queue


def test_the_earliest_deadline_comes_first_and_equals_keep_their_order() -> None:
    queue = Queue(10)
    for number, wanted in enumerate([3.0, 1.0, 2.0, 1.0]):
        queue.add(Query(number, PETS, 0.0, wanted))
    (lane,) = queue.by_urgency()
    assert [query.id for query, _ in queue.pop(lane, 4)] == [1, 3, 2, 0]


def test_different_pins_and_shapes_never_share_a_lane() -> None:
    queue = Queue(10)
    keys = [LaneKey("pets"), LaneKey("pets", "small"), LaneKey("pets", "", ((4,),)), LaneKey("pets", "", ((5,),))]
    for number, key in enumerate(keys):
        queue.add(Query(number, key, 0.0, 9.0 - number))
    assert [lane.key for lane in queue.by_urgency()] == keys[::-1]


def test_a_cancelled_query_leaves_and_nothing_of_it_remains() -> None:
    queue = Queue(10)
    queue.add(Query(7, PETS, 0.0, 1.0))
    assert queue.cancel(7) is not None
    assert queue.cancel(7) is None
    assert (len(queue), queue.lanes) == (0, {})


def test_expired_queries_are_found_in_every_lane() -> None:
    queue = Queue(10)
    for number, (pin, wanted) in enumerate([("", 1.0), ("", 3.0), ("small", 2.0)]):
        queue.add(Query(number, LaneKey("pets", pin), 0.0, wanted))
    assert sorted(query.id for query in queue.expire(2.0)) == [0, 2]
    assert queue.next_deadline() == 3.0


@pytest.mark.parametrize("seed", range(20))
def test_lengths_and_totals_agree_after_any_history(seed: int) -> None:
    chance, queue, alive = random.Random(seed), Queue(30), dict[int, Query]()
    for number in range(400):
        if not queue.full:
            key = LaneKey("pets", chance.choice(["", "small"]))
            alive[number] = Query(number, key, 0.0, chance.random(), chance.randint(1, 4))
            queue.add(alive[number])
        if alive and chance.random() < 0.5:
            gone = chance.choice(list(alive))
            assert queue.cancel(gone) is alive.pop(gone)
        elif alive and chance.random() < 0.5:
            for query, _ in queue.pop(next(queue.by_urgency()), 2):
                del alive[query.id]
        assert len(queue) == len(alive) <= 30
        assert sum(lane.total for lane in queue.lanes.values()) == sum(query.rows for query in alive.values())
        assert all(lane.deadlines == sorted(lane.deadlines) for lane in queue.lanes.values())


@given(st.lists(st.floats(0, 1), max_size=50))
def test_a_lane_is_always_sorted(deadlines: list[float]) -> None:
    queue = Queue(100)
    for number, wanted in enumerate(deadlines):
        queue.add(Query(number, PETS, 0.0, wanted))
    for lane in queue.by_urgency():
        assert lane.deadlines == sorted(deadlines)
