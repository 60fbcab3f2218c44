"""A rule that waits only where waiting can pay: a larger batch is due in time, is faster per query, and is needed."""

from __future__ import annotations

from tidewise.worker.batching import FULL, Decision, Run, eager, wait_until
from tidewise.worker.queue import Lane
from tidewise.worker.servable import Servable

NEEDED = 0.85  # of the present batch's rate must be coming in, else the larger batch is not needed
BETTER = 1.02  # times the present batch's rate, the wait included
PATIENCE = 2.0  # times the expected wait; then run what is there


def adaptive(lane: Lane, servable: Servable, now: float, target: int = 1) -> Decision:
    """As ``eager``, but wait for the next larger batch of a better rate if the lane fills fast enough for it.

    The rate of arrivals is read off the queue itself, so that it falls while nothing comes and no wait is for ever.
    """
    run = eager(lane, servable, now, target)
    if not isinstance(run, Run) or run.reason == FULL:
        return run
    larger = next((rows for rows in range(lane.total + 1, servable.cap + 1) if servable.brisk[rows] == rows), None)
    if larger is None:
        return run
    gap = (now - lane.queries[0].arrived) / lane.total
    wait, span, rate = (larger - lane.total) * gap, servable.latency[larger], run.rows / servable.latency[run.rows]
    latest = lane.deadlines[0] - span
    if gap * rate * NEEDED > 1 or now + wait > latest or larger < BETTER * rate * (span + wait):
        return run
    return wait_until(min(latest, now + PATIENCE * wait), run, now)
