"""Whether queries may be sent to the process at an address: a machine whose transitions are data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

FIRST_PROBE = 0.05  # seconds after a loss; doubles with each failed probe
LAST_PROBE = 1.0  # seconds between probes at most


class State(StrEnum):
    """Where an address stands."""

    IN = "in"  # routed
    SUSPECT = "suspect"  # routed still, while a probe asks
    OUT = "out"  # not routed; probed until it answers


class Event(StrEnum):
    """What can be learnt of an address."""

    LOST = "lost"  # the connection broke, or a query was answered UNAVAILABLE
    SILENT = "silent"  # a query's deadline passed without a sign of life
    ANSWERED = "answered"  # a probe was answered
    UNANSWERED = "unanswered"  # a probe was not answered, or the answer was "not serving"


TRANSITIONS: dict[tuple[State, Event], State] = {
    (State.IN, Event.LOST): State.OUT,
    (State.IN, Event.SILENT): State.SUSPECT,
    (State.IN, Event.ANSWERED): State.IN,
    (State.IN, Event.UNANSWERED): State.OUT,
    (State.SUSPECT, Event.LOST): State.OUT,
    (State.SUSPECT, Event.SILENT): State.SUSPECT,
    (State.SUSPECT, Event.ANSWERED): State.IN,
    (State.SUSPECT, Event.UNANSWERED): State.OUT,
    (State.OUT, Event.LOST): State.OUT,
    (State.OUT, Event.SILENT): State.OUT,
    (State.OUT, Event.ANSWERED): State.IN,
    (State.OUT, Event.UNANSWERED): State.OUT,
}


@dataclass(frozen=True, slots=True)
class Health:
    """The state of one address, the probes it failed in a row, and when the next one is due (None: none is)."""

    state: State = State.IN
    failures: int = 0
    probe_at: float | None = None

    @property
    def routed(self) -> bool:
        """Whether queries may be sent there."""
        return self.state is not State.OUT


def step(health: Health, event: Event, now: float) -> Health:
    """What the address's health is after the event."""
    state = TRANSITIONS[health.state, event]
    if state is State.IN:
        return Health()
    failures = health.failures + (event is Event.UNANSWERED)
    if health.probe_at is not None and event in (Event.LOST, Event.SILENT):
        return Health(state, failures, health.probe_at)  # the probe already due will tell
    return Health(state, failures, now + (0.0 if state is State.SUSPECT else probe_delay(failures)))


def probe_delay(failures: int) -> float:
    """Seconds to wait before the next probe after this many failures in a row."""
    return min(LAST_PROBE, FIRST_PROBE * 2.0 ** min(failures, 10))
