from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulator_stories import card, world

from tidewise.controller.policies.presets import PRESETS
from tidewise.core.outcome import Outcome
from tidewise.simulator.bound import clairvoyant_bound
from tidewise.simulator.simulation import Simulation, simulate
from tidewise.simulator.site import Station
from tidewise.worker.actions import Action, Start


@pytest.mark.parametrize("policy", sorted(PRESETS))
def test_every_arrival_ends_in_exactly_one_outcome_under_every_policy(policy: str) -> None:
    one = world(policy)
    result = simulate(one)
    found = card(one, result)
    assert sum(found.outcomes.values()) == found.arrivals == len(one.trace)
    assert [record.due for record in result.records] == one.trace.arrival.tolist()


def test_the_same_seed_gives_the_same_run_to_the_last_query() -> None:
    first, second = simulate(world(), seed=3), simulate(world(), seed=3)
    assert first.records == second.records
    assert [(one.at, one.plan.assignments) for one in first.plans] == [
        (one.at, one.plan.assignments) for one in second.plans
    ]
    assert simulate(world(), seed=4).records != first.records


@settings(max_examples=12)
@given(
    st.sampled_from(["tidewise", "proteus", "proteus-mended", "infaas", "anytime", "clipper-ha"]),
    st.integers(0, 3),
    st.integers(1, 4),
    st.floats(2.0, 120.0),
    st.integers(0, 1000),
)
def test_no_query_ends_twice_and_nothing_ends_before_it_began(
    policy: str, big: int, small: int, rate: float, seed: int
) -> None:
    one = world(policy, (big, small), {"cats": rate, "dogs": rate / 3}, seconds=5.0, seed=seed)
    result = simulate(one, seed)  # the ledger refuses a second end
    assert len(result.records) == len(one.trace)
    for record in result.records:
        assert record.ended >= record.due
        assert (record.outcome in (Outcome.ON_TIME, Outcome.LATE)) == bool(record.variant)


def test_no_batch_exceeds_its_cap_and_no_device_runs_two_at_once() -> None:
    simulation = Simulation(world(rates={"cats": 150.0, "dogs": 60.0}), seed=0)
    running: dict[str, float] = {}
    carry_out = simulation.site._carry_out

    def watched(station: Station, actions: Sequence[Action], now: float) -> None:
        for action in actions:
            if isinstance(action, Start):
                batch = action.batch
                assert 1 <= batch.rows <= batch.size <= batch.servable.cap
                assert sum(part.rows for part in batch.parts) == batch.rows
                assert now >= running.get(station.name, 0.0)
                running[station.name] = now + 0.7 * batch.servable.latency[batch.rows]  # the noise is bounded below
        carry_out(station, actions, now)

    simulation.site._carry_out = watched  # type: ignore[method-assign]
    simulation.play()


def test_what_a_device_keeps_warm_never_exceeds_its_memory() -> None:
    one = world(memory=40, room=100)
    result = simulate(one)
    assert all(len(part.warm) <= 2 for change in result.plans for part in change.plan.assignments)
    assert any(len(part.warm) == 2 for change in result.plans for part in change.plan.assignments)


def test_what_a_device_holds_fits_its_memory_whenever_no_swap_is_under_way() -> None:
    """While one is, old and new variants are held side by side: the limit is on what an order may ask to keep warm."""
    simulation = Simulation(world(memory=40, room=100, rates={"cats": 90.0, "dogs": 30.0}, peak=3.0), seed=0)
    carry_out = simulation.site._carry_out
    held: list[int] = []

    def watched(station: Station, actions: Sequence[Action], now: float) -> None:
        hosting = station.device.hosting
        if hosting.pending is None and not hosting.leaving():
            held.append(40 * len(hosting.states))
            assert held[-1] <= 100
        carry_out(station, actions, now)

    simulation.site._carry_out = watched  # type: ignore[method-assign]
    simulation.play()
    assert max(held) == 80


@pytest.mark.parametrize("policy", ["tidewise", "proteus", "anytime"])
def test_time_never_runs_backwards(policy: str) -> None:
    """Neither for a device nor for the router, nor from one of them to another."""
    simulation = Simulation(world(policy, rates={"cats": 90.0, "dogs": 30.0}, seconds=6.0), seed=0)
    seen = [float("-inf")]

    def checked(call: Callable[..., None], time: Callable[..., float]) -> Callable[..., None]:
        def called(*arguments: Any) -> None:
            assert time(*arguments) >= seen[0]
            seen[0] = time(*arguments)
            call(*arguments)

        return called

    site, front = simulation.site, simulation.front
    site._carry_out = checked(site._carry_out, lambda station, actions, now: now)  # type: ignore[method-assign]
    front.hear = checked(front.hear, lambda heard: heard[0])  # type: ignore[method-assign]
    front.arrived = checked(front.arrived, lambda index, now: now)  # type: ignore[method-assign]
    simulation.play()
    assert seen[0] > 5.0


def test_more_devices_do_not_lower_what_queries_get() -> None:
    """Over many seeds: one run may well be unlucky."""

    def reached(devices: tuple[int, int]) -> float:
        worlds = [world(devices=devices, seed=seed, rates={"cats": 120.0, "dogs": 50.0}) for seed in range(6)]
        return statistics.fmean(card(one, simulate(one)).on_time_accuracy_per_arrival for one in worlds)

    assert reached((1, 2)) <= reached((2, 3)) + 0.002 <= reached((3, 6)) + 0.004


def test_no_policy_beats_the_planner_that_knows_each_second() -> None:
    for policy in ("tidewise", "proteus-mended", "anytime"):
        one = world(policy, rates={"cats": 120.0, "dogs": 50.0})
        assert card(one, simulate(one)).on_time_accuracy_per_arrival <= clairvoyant_bound(one) + 1e-6


def test_accuracy_is_given_up_only_where_demand_asks_for_it() -> None:
    quiet = world(rates={"cats": 10.0, "dogs": 5.0})
    assert card(quiet, simulate(quiet)).on_time_accuracy_per_arrival > 0.99
    busy = world(rates={"cats": 150.0, "dogs": 60.0})
    found = simulate(busy)
    assert {record.variant for record in found.records if record.variant} >= {"xl", "s"}
    assert card(busy, found).violation_ratio < 0.1


def test_staged_swaps_serve_while_blocking_ones_refuse() -> None:
    staged, blocking = (world(name, rates={"cats": 60.0, "dogs": 20.0}) for name in ("tidewise", "tidewise-blocking"))
    lost = [Counter(one.outcome for one in simulate(each).records)[Outcome.ON_TIME] for each in (staged, blocking)]
    assert lost[0] >= lost[1]
