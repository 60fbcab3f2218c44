"""What one router has sent to one worker and not heard back of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Backlog(NamedTuple):
    """``since`` is when its first query can have begun: at the last answer, or at the send that ended idleness."""

    outstanding: int
    since: float


IDLE = Backlog(0, 0.0)
Backlogs = Mapping[str, Backlog]  # by worker; an absent worker is idle


def begun(backlog: Backlog | None, now: float) -> Backlog:
    """The backlog with one more query sent."""
    return Backlog(1, now) if backlog is None else Backlog(backlog.outstanding + 1, backlog.since)


def ended(backlog: Backlog, now: float, answered: bool) -> Backlog | None:
    """The backlog with one query less, None if that was the last; only an answer shows that the worker moved on."""
    if backlog.outstanding <= 1:
        return None
    return Backlog(backlog.outstanding - 1, now if answered else backlog.since)
