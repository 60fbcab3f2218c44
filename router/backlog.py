"""What one router has sent to one worker and not heard back of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(slots=True)
class Backlog:
    """``since`` is when its first query can have begun: at the last answer, or at the send that ended idleness."""

    outstanding: int
    since: float


Backlogs = Mapping[str, Backlog]  # by worker; an absent worker is idle


def begun(backlogs: dict[str, Backlog], worker: str, now: float) -> None:
    """One more query was sent to this worker."""
    backlog = backlogs.get(worker)
    if backlog is None:
        backlogs[worker] = Backlog(1, now)
    else:
        backlog.outstanding += 1


def ended(backlogs: dict[str, Backlog], worker: str, now: float, answered: bool) -> None:
    """One query less; with its last query a worker is idle again. Only an answer shows that the worker moved on."""
    backlog = backlogs[worker]
    if backlog.outstanding <= 1:
        del backlogs[worker]
        return
    backlog.outstanding -= 1
    if answered:
        backlog.since = now
