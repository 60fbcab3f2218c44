"""The rule that waits only where waiting can pay."""

from __future__ import annotations

from tidewise.worker.adaptive import adaptive
from tidewise.worker.batching import Run, Wait
from tidewise.worker.query import LaneKey, Query
from tidewise.worker.queue import Lane
from tidewise.worker.servable import Model, Servable, tabulated

ONE = Model("garments", "xl")
FLAT = tabulated(ONE, {1: 0.05, 2: 0.05, 4: 0.05, 8: 0.05})  # a batch of eight costs no more than one query
STEEP = tabulated(ONE, {1: 0.05, 2: 0.10, 4: 0.20, 8: 0.40})  # batching gains nothing


def lane(arrivals: list[float], slo: float = 0.3) -> Lane:
    found = Lane(LaneKey("garments"))
    for number, at in enumerate(arrivals):
        found.add(Query(number, found.key, at, at + slo), 1)
    return found


def decide(arrivals: list[float], servable: Servable, now: float) -> object:
    return adaptive(lane(arrivals), servable, now)


def test_it_waits_where_more_queries_come_soon_and_cost_nothing() -> None:
    decided = decide([0.0, 0.002, 0.004], FLAT, 0.006)
    assert isinstance(decided, Wait) and 0.006 < decided.until < 0.02


def test_it_runs_at_once_where_a_larger_batch_is_no_faster_a_query() -> None:
    assert isinstance(decide([0.0, 0.002, 0.004], STEEP, 0.006), Run)


def test_it_runs_at_once_where_few_queries_come() -> None:
    assert isinstance(decide([0.0], FLAT, 0.06), Run)


def test_it_does_not_wait_past_the_first_deadline() -> None:
    assert isinstance(decide([0.0, 0.1, 0.2], FLAT, 0.24), Run)


def test_a_wait_ends_when_nothing_comes() -> None:
    """The rate is read off the queue, so it falls as time passes."""
    assert isinstance(decide([0.0, 0.002, 0.004], FLAT, 0.16), Run)
