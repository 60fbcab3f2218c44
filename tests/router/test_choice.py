from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from router_stage import route, source

from tidewise.core.errors import ConfigError
from tidewise.core.outcome import Reason
from tidewise.core.routes import RoutingSnapshot
from tidewise.router.backlog import Backlog, begun, ended
from tidewise.router.choice import CHOICES, Refusal, choice, decide, predicted_finish
from tidewise.router.table import Lane, build, view_of

FOREVER = 1e9
EVERY = pytest.mark.parametrize("policy", sorted(CHOICES))


def pick(policy: str, view: object, backlogs: dict[str, Backlog], *, budget: float = FOREVER, turn: int = 0) -> str:
    lane = decide(CHOICES[policy], view, backlogs, 10.0, budget, turn, random.Random(turn))
    assert isinstance(lane, Lane)
    return lane.route.worker


@EVERY
@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=10),
    st.frozensets(st.sampled_from("abcd")),
    st.dictionaries(st.sampled_from([f"w{i}" for i in range(10)]), st.integers(1, 50)),
    st.integers(0, 5000),
)
def test_no_policy_picks_a_worker_that_is_out(
    policy: str, addresses: list[str], out: frozenset[str], queued: dict[str, int], turn: int
) -> None:
    routes = tuple(route(f"w{i}", address) for i, address in enumerate(addresses))
    table = build(RoutingSnapshot(1, 1, {"garments": source("garments").parse()}, routes), out)
    backlogs = {worker: Backlog(count, 0.0) for worker, count in queued.items()}
    view = table.entries["garments"].everywhere
    found = decide(CHOICES[policy], view, backlogs, 10.0, FOREVER, turn, random.Random(turn))
    if all(address in out for address in addresses):
        assert found == Refusal(Reason.NO_WORKER)
    else:
        assert isinstance(found, Lane) and found.route.address not in out


@EVERY
def test_every_policy_keeps_to_the_shares_while_workers_are_idle(policy: str) -> None:
    view = view_of([route("a", "x:1", share=0.7), route("b", "x:2", share=0.2), route("c", "x:3", share=0.1)])
    picked = [pick(policy, view, {}, turn=turn) for turn in range(1024)]
    if policy == "random":  # two draws, the better of which has the larger share: it leans, but starves nobody
        assert picked.count("a") > picked.count("b") > 0
    else:
        assert [round(picked.count(worker) / 1024, 2) for worker in "abc"] == [0.7, 0.2, 0.1]


def test_the_least_backlog_for_its_share_wins() -> None:
    view = view_of([route("a", "x:1", share=0.8, capacity=800), route("b", "x:2", share=0.2, capacity=200)])
    assert pick("least-backlog", view, {"a": Backlog(1, 0.0), "b": Backlog(1, 0.0)}) == "a"
    assert pick("least-backlog", view, {"a": Backlog(9, 0.0), "b": Backlog(1, 0.0)}) == "b"


def test_what_is_done_of_the_running_query_counts() -> None:
    view = view_of([route("a", "x:1", capacity=10, fastest=0.1), route("b", "x:2", capacity=10, fastest=0.1)])
    assert pick("least-backlog", view, {"a": Backlog(1, 9.99), "b": Backlog(1, 9.91)}) == "b"


def test_a_silent_worker_is_not_taken_for_one_about_to_finish() -> None:
    view = view_of([route("a", "x:1", capacity=10, fastest=0.1), route("b", "x:2", capacity=10, fastest=0.1)])
    assert pick("least-backlog", view, {"a": Backlog(1, 2.0)}) == "b"
    assert pick("least-backlog", view, {"a": Backlog(1, 2.0), "b": Backlog(1, 9.95)}) == "b"


def test_of_two_draws_the_shorter_queue_wins() -> None:
    view = view_of([route("a", "x:1"), route("b", "x:2")])
    picked = [pick("random", view, {"a": Backlog(5, 0.0)}, turn=turn) for turn in range(400)]
    assert picked.count("a") < 140  # both draws must fall on a: one in four


@EVERY
def test_a_query_that_no_worker_can_finish_in_time_is_refused(policy: str) -> None:
    """Five ahead at 100 ms each: an answer in 600 ms at the earliest."""
    view = view_of([route("a", "x:1", capacity=10, fastest=0.1)])
    found = decide(CHOICES[policy], view, {"a": Backlog(5, 0.0)}, 10.0, 0.3, 0, random.Random(0))
    assert found == Refusal(Reason.PREDICTED_LATE, pytest.approx(0.6))
    assert pick(policy, view, {"a": Backlog(5, 0.0)}, budget=0.61) == "a"


@EVERY
def test_a_hurried_query_goes_where_it_can_still_be_served(policy: str) -> None:
    slow, quick = route("slow", "x:1", fastest=0.5, share=0.99), route("quick", "x:2", fastest=0.01, share=0.01)
    for turn in range(50):
        assert pick(policy, view_of([slow, quick]), {}, budget=0.1, turn=turn) == "quick"


def test_prediction_trusts_the_fastest_variant_where_it_outruns_the_plan() -> None:
    planned = view_of([route("a", "x:1", capacity=10, fastest=0.01)])
    assert predicted_finish(planned.lanes[0], {"a": Backlog(5, 0.0)}, 10.0) == pytest.approx(0.06)


def test_a_worker_of_unknown_speed_is_never_predicted_late() -> None:
    view = view_of([route("a", "x:1", capacity=0, fastest=0)])
    assert pick("least-backlog", view, {"a": Backlog(500, 0.0)}, budget=1e-6) == "a"


def test_an_unknown_policy_is_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="no routing policy 'best'; known: least-backlog, cycle, random"):
        choice("best")


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60))
def test_a_backlog_counts_what_is_out(steps: list[tuple[bool, bool]]) -> None:
    backlogs: dict[str, Backlog] = {}
    expected, since = 0, 0.0
    for now, (send, answered) in enumerate(steps):
        if send:
            since = now if expected == 0 else since
            begun(backlogs, "a", now)
            expected += 1
        elif expected:
            ended(backlogs, "a", now, answered)
            expected, since = expected - 1, now if answered else since
        assert backlogs.get("a") == (Backlog(expected, since) if expected else None)
