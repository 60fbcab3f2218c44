"""When a dead child is started again: at once the first time, then ever more slowly, until it stays up."""

from __future__ import annotations

from dataclasses import dataclass, replace

FIRST = 0.25  # seconds before the first restart
SLOWEST = 15.0
STEADY = 30.0  # a child that lived this long has earned a fresh start


@dataclass(frozen=True, slots=True)
class Restarts:
    """How often one child died lately, and when it may start again (None: it runs)."""

    deaths: int = 0
    started: float = 0.0
    again_at: float | None = None


def started(state: Restarts, now: float) -> Restarts:
    """The child was started."""
    return replace(state, started=now, again_at=None)


def died(state: Restarts, now: float) -> Restarts:
    """The child died; the wait doubles with each death in a row."""
    deaths = 1 if now - state.started >= STEADY else state.deaths + 1
    return Restarts(deaths, state.started, now + min(SLOWEST, FIRST * 2 ** (deaths - 1)))
