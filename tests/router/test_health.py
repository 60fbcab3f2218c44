from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tidewise.router.health import FIRST_PROBE, LAST_PROBE, TRANSITIONS, Event, Health, State, step

EVENTS = st.lists(st.sampled_from(list(Event)), max_size=40)


def after(*events: Event) -> Health:
    health = Health()
    for now, event in enumerate(events):
        health = step(health, event, float(now))
    return health


def test_every_pair_of_state_and_event_is_listed() -> None:
    assert set(TRANSITIONS) == set(itertools.product(State, Event))


def test_a_loss_takes_a_worker_out_and_a_probe_brings_it_back() -> None:
    assert after(Event.LOST) == Health(State.OUT, 0, FIRST_PROBE)
    assert after(Event.LOST, Event.ANSWERED) == Health()


def test_a_silent_worker_stays_routed_until_a_probe_fails() -> None:
    assert after(Event.SILENT) == Health(State.SUSPECT, 0, 0.0)
    assert after(Event.SILENT).routed
    assert not after(Event.SILENT, Event.UNANSWERED).routed
    assert after(Event.SILENT, Event.ANSWERED) == Health()


def test_queries_that_fail_late_do_not_put_off_the_probe() -> None:
    assert after(Event.LOST, Event.LOST, Event.LOST).probe_at == FIRST_PROBE


@given(EVENTS)
def test_only_an_answered_probe_brings_a_worker_back(events: list[Event]) -> None:
    health = after(Event.LOST, *events)
    assert health.routed or Event.ANSWERED not in events[-1:]
    if health.routed:
        assert Event.ANSWERED in events


@given(EVENTS)
def test_whoever_is_in_doubt_is_probed_soon(events: list[Event]) -> None:
    health = after(*events)
    if health.state is State.IN:
        assert health.probe_at is None
    else:
        assert health.probe_at is not None
        assert health.probe_at <= len(events) + LAST_PROBE
