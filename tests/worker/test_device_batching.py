from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worker_stories import LARGE, SMALL, World, lane_of

from tidewise.core.outcome import Reason
from tidewise.worker.actions import Ended
from tidewise.worker.batching import RULES, Drop, Run, Wait, aimd, aimd_learn, deadline, eager, nexus
from tidewise.worker.choice import anytime, drains, planned
from tidewise.worker.queue import Lane
from tidewise.worker.servable import Model, Servable, tabulated


@pytest.mark.parametrize(
    ("queued", "expected"),
    [
        (1, Run(1, 1, 1, "idle")),
        (2, Run(2, 2, 2, "idle")),
        (3, Run(3, 3, 4, "idle")),  # padded to the next allowed size
        (5, Run(4, 4, 4, "full")),  # more a second than 5 padded to 8
        (8, Run(8, 8, 8, "full")),
        (20, Run(8, 8, 8, "full")),
    ],
)
def test_an_idle_device_runs_all_that_is_queued_up_to_its_largest_batch(queued: int, expected: Run) -> None:
    assert eager(lane_of(*[(1.0, 1)] * queued), SMALL, 0.0) == expected


def test_a_lone_query_never_waits_under_the_default_rule() -> None:
    assert isinstance(eager(lane_of((100.0, 1)), SMALL, 0.0), Run)


def test_heads_that_cannot_be_met_are_dropped_and_the_batch_is_not_shrunk_to_save_them() -> None:
    """Alone the first could be met in 0.05 s; the batch of eight takes 0.12 s, so it goes."""
    assert eager(lane_of((0.1, 1), *[(1.0, 1)] * 7), LARGE, 0.0) == Drop(1)


@pytest.mark.parametrize("name", RULES)
def test_a_full_batch_runs_at_once_under_every_rule(name: str) -> None:
    decision = RULES[name].decide(lane_of(*[(9.0, 1)] * 8), SMALL, 0.0, 8)
    assert decision == Run(8, 8, 8, "full")


def test_the_deadline_rule_waits_until_one_more_could_no_longer_join() -> None:
    assert deadline(lane_of((1.0, 1)), LARGE, 0.0) == Wait(1.0 - 0.06)
    assert deadline(lane_of((1.0, 1)), LARGE, 0.945) == Run(1, 1, 1, "deadline")


def test_nexus_waits_until_a_full_batch_could_just_be_served() -> None:
    assert nexus(lane_of((1.0, 1)), LARGE, 0.0) == Wait(1.0 - 0.12)
    assert nexus(lane_of((1.0, 1)), LARGE, 0.9) == Run(1, 1, 1, "deadline")


def test_aimd_runs_at_its_target_and_learns_from_late_batches() -> None:
    assert aimd(lane_of(*[(9.0, 1)] * 3), SMALL, 0.0, 2) == Run(2, 2, 2, "full")
    assert isinstance(aimd(lane_of((9.0, 1)), SMALL, 0.0, 2), Wait)
    assert aimd_learn(2, SMALL.sizes, late=False) == 4
    assert aimd_learn(8, SMALL.sizes, late=False) == 8
    assert aimd_learn(4, SMALL.sizes, late=True) == 2
    assert aimd_learn(1, SMALL.sizes, late=True) == 1


def test_rows_count_against_the_batch_and_order_is_kept() -> None:
    """3 + 4 rows fit into 8; the next three rows do not, and the single row behind does not jump ahead."""
    assert eager(lane_of((1, 3), (1, 4), (1, 3), (1, 1)), SMALL, 0.0) == Run(2, 7, 8, "full")


def test_a_query_larger_than_a_batch_starts_only_if_all_of_it_can_end_in_time() -> None:
    assert eager(lane_of((1.0, 20)), LARGE, 0.0) == Run(1, 8, 8, "full")
    assert eager(lane_of((0.3, 20)), LARGE, 0.0) == Drop(1)  # 0.12 + 0.12 + 0.08 s


def test_a_fixed_batch_size_pads_a_single_query_at_once() -> None:
    fixed = tabulated(Model("pets", "fixed"), {4: 0.03})
    assert eager(lane_of((1.0, 1)), fixed, 0.0) == Run(1, 1, 4, "idle")


def test_more_queued_work_never_makes_smaller_batches() -> None:
    def mean_batch(count: int) -> float:
        lane, sizes = lane_of(*[(99.0, 1)] * count), []
        while lane.deadlines:
            run = eager(lane, SMALL, 0.0)
            assert isinstance(run, Run)
            lane.pop(run.count)
            sizes.append(run.rows)
        return sum(sizes) / len(sizes)

    assert mean_batch(20) <= mean_batch(40) <= mean_batch(80)


queries = st.lists(st.tuples(st.floats(0.0, 2.0), st.integers(1, 12)), min_size=1, max_size=40)
ladders = st.dictionaries(st.integers(1, 9), st.floats(1e-3, 0.5), min_size=1, max_size=5)


@given(queries, ladders, st.sampled_from(sorted(RULES)), st.integers(1, 9))
def test_no_rule_overfills_a_batch_or_runs_what_cannot_end_in_time(
    queued: list[tuple[float, int]], latencies: dict[int, float], name: str, target: int
) -> None:
    servable, lane = tabulated(Model("pets", "any"), latencies), lane_of(*queued)
    for decision in _decisions(name, lane, servable, target):
        if isinstance(decision, Run):
            assert 1 <= decision.rows <= decision.size <= servable.cap
            assert decision.rows == sum(lane.rows[: decision.count]) or decision.count == 1
            seconds = servable.span(max(decision.rows, lane.rows[0]))
            assert seconds <= min(lane.deadlines[: decision.count]) + 1e-6
        elif isinstance(decision, Wait):
            assert 0 < decision.until <= lane.deadlines[0] - servable.latency[1] + 1e-9


def _decisions(name: str, lane: Lane, servable: Servable, target: int) -> Iterator[Run | Wait | Drop]:
    """Decide, pretending the batch takes no time, until the lane is empty or the rule waits."""
    while lane.deadlines:
        decision = RULES[name].decide(lane, servable, 0.0, target)
        yield decision
        if isinstance(decision, Wait):
            return
        lane.pop(decision.count)


def test_planned_is_always_the_ceiling() -> None:
    assert planned(lane_of(*[(0.01, 1)] * 40), (LARGE, SMALL), 0.0) is LARGE


def test_anytime_takes_the_most_accurate_variant_that_drains_the_backlog() -> None:
    assert anytime(lane_of(*[(0.2, 1)] * 8), (LARGE, SMALL), 0.0) is LARGE
    assert anytime(lane_of(*[(0.2, 1)] * 16), (LARGE, SMALL), 0.0) is SMALL
    assert anytime(lane_of(*[(0.001, 1)] * 16), (LARGE, SMALL), 0.0) is SMALL


@given(queries, ladders)
def test_a_backlog_that_drains_is_served_whole_and_in_time(
    queued: list[tuple[float, int]], latencies: dict[int, float]
) -> None:
    servable, lane, now = tabulated(Model("pets", "any"), latencies), lane_of(*queued), 0.0
    if not drains(lane, servable, now):
        return
    while lane.deadlines:
        run = eager(lane, servable, now)
        assert isinstance(run, Run)
        now += servable.span(max(run.rows, lane.rows[0]))
        assert all(now <= wanted + 1e-6 for wanted in lane.deadlines[: run.count])
        lane.pop(run.count)


def test_aimd_learns_from_late_batches_whose_callers_gave_up() -> None:
    world = World("aimd")
    world.host(SMALL)
    world.send(0.05)
    world.until(0.02)  # in time: the target is 2 now
    world.stretch = 10.0
    late = [world.send(0.05), world.send(0.05)]
    world.until(0.08)
    for one in late:
        world.device.cancelled(one.id, world.now, Reason.DEADLINE)
    world.until(0.2)
    world.send(0.5)
    assert world.device.running is not None  # the target is 1 again, so one query need not wait for company


@pytest.mark.parametrize("rule", ["deadline", "nexus", "aimd"])
def test_a_timer_that_rings_late_does_not_cost_the_query_it_was_set_for(rule: str) -> None:
    world = World(rule, reserve=0.002)
    world.host(SMALL)
    world.send(0.5)
    world.until(0.02)
    world.send(0.5)
    world.now = world.device.wake + 0.001 if world.device.running is None else world.now
    world._do(world.device.timer(world.now))
    world.until(2.0)
    assert not [one for _, one in world.log if isinstance(one, Ended)]
