from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from router_stage import route, source

from tidewise.core.errors import PlanError
from tidewise.core.routes import Route, RoutingSnapshot
from tidewise.router.table import SLOTS, build, smooth_cycle, view_of, without

SHARES = st.lists(st.floats(0.001, 1.0), min_size=1, max_size=60)


def snapshot_of(*routes: Route, **changes: object) -> RoutingSnapshot:
    return RoutingSnapshot(7, 3, {"garments": source("garments").parse()}, routes, **changes)


@given(SHARES)
def test_a_cycle_gives_every_worker_its_share_within_one_slot(weights: list[float]) -> None:
    shares = tuple(weight / math.fsum(weights) for weight in weights)
    cycle = smooth_cycle(shares)
    assert len(cycle) == SLOTS
    for index, share in enumerate(shares):
        assert abs(cycle.count(index) / SLOTS - share) <= 1 / SLOTS


@settings(max_examples=30)
@given(SHARES)
def test_no_worker_is_ever_a_whole_turn_ahead_or_behind(weights: list[float]) -> None:
    cycle = smooth_cycle(tuple(weight / math.fsum(weights) for weight in weights))
    had = [0] * len(weights)
    part = [cycle.count(index) / SLOTS for index in range(len(weights))]
    for slot, index in enumerate(cycle, start=1):
        had[index] += 1
        assert all(abs(got - slot * share) < 1 for got, share in zip(had, part, strict=True))


def test_many_small_workers_do_not_crowd_out_a_large_one() -> None:
    cycle = smooth_cycle((0.5, *[0.01] * 50))
    assert max(len(run) for run in "".join("x" if index == 0 else "." for index in cycle).split("x")) <= 3


@given(SHARES)
def test_shares_are_renormalised(weights: list[float]) -> None:
    view = view_of(route(f"w{i}", "a:1", share=weight) for i, weight in enumerate(weights))
    assert math.isclose(math.fsum(lane.share for lane in view.lanes), 1)
    for lane, weight in zip(view.lanes, weights, strict=True):
        assert math.isclose(lane.share * math.fsum(weights), weight)


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 1)), max_size=12), st.frozensets(st.sampled_from("abcd"))
)
def test_a_table_is_a_pure_function_and_holds_no_worker_that_is_out(
    rows: list[tuple[str, float]], out: frozenset[str]
) -> None:
    snapshot = snapshot_of(*(route(f"w{i}", address, share=share) for i, (address, share) in enumerate(rows)))
    table = build(snapshot, out)
    assert table == build(snapshot, out)
    entry = table.entries["garments"]
    kept = [lane.route for lane in entry.everywhere.lanes]
    assert kept == [one for one in snapshot.routes if one.address not in out]
    assert table.serves("garments") == bool(kept)


def test_workers_without_any_share_share_equally() -> None:
    view = view_of([route("a", "x:1", share=0.0), route("b", "x:2", share=0.0)])
    assert [lane.share for lane in view.lanes] == [0.5, 0.5]


def test_a_variant_is_served_by_the_workers_that_have_it_ready() -> None:
    both = route("a", "x:1", variants=("fine", "fast"), share=0.25)
    one = route("b", "x:2", variants=("fast",), share=0.75)
    table = build(snapshot_of(both, one))
    pinned = table.entries["garments"].pinned
    assert [lane.route.worker for lane in pinned["fine"].lanes] == ["a"]
    assert pinned["fast"] is table.entries["garments"].everywhere
    assert table.serves("garments", "2") and table.serves("garments", "fine")
    assert not table.serves("garments", "3") and not table.serves("shoes")


def test_less_one_worker_the_others_carry_all() -> None:
    view = view_of([route("a", "x:1", share=0.5), route("b", "x:2", share=0.25), route("c", "x:3", share=0.25)])
    assert [(lane.route.worker, lane.share) for lane in without(view, "a").lanes] == [("b", 0.5), ("c", 0.5)]


@pytest.mark.parametrize(
    ("routes", "words"),
    [
        ([route("a", "x:1", application="shoes")], "'shoes' is not in its catalogue"),
        ([route("a", "x:1", variants=("huge",))], "no variant 'huge'"),
        ([route("a", "x:1", share=-0.5)], "share -0.5"),
        ([route("a", "x:1", share=math.nan)], "share nan"),
        ([route("a", "x:1"), route("a", "x:1")], "routed twice"),
    ],
)
def test_a_snapshot_that_contradicts_itself_is_refused(routes: list[Route], words: str) -> None:
    with pytest.raises(PlanError, match=r"routing snapshot 7, worker 'a'") as error:
        build(snapshot_of(*routes))
    assert words in str(error.value)


def test_a_table_needs_a_message_limit() -> None:
    with pytest.raises(PlanError, match="limit of 0 bytes"):
        build(snapshot_of(max_message=0))


@given(st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 0.5])), max_size=4), max_size=5))
def test_a_table_made_from_the_one_before_is_the_one_made_anew(steps: list[list[tuple[str, float]]]) -> None:
    table = build(snapshot_of())
    for rows in steps:
        snapshot = snapshot_of(
            *(
                route(f"w{i}", address, share=share, variants=("fine", "fast")[i % 2 :])
                for i, (address, share) in enumerate(rows)
            )
        )
        before, table = table, build(snapshot, "c", table)
        assert table == build(snapshot, "c")
        again = build(snapshot, "c", table)
        assert again.entries["garments"] is table.entries["garments"]
        assert before.revision == table.revision
