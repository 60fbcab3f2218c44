"""Batching rules by name: given one lane of an idle device, run now, wait, or give up heads.

All rules share three habits, each the mend of a fault seen in published servers: a full batch runs at once; heads
whose deadline the batch cannot meet are dropped *before* they cost anything, and the batch is never shrunk to save
one (shrinking lowers throughput exactly when it is short, and collapses); rows are padded to the next allowed size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tidewise.worker.queue import Lane
from tidewise.worker.servable import Servable

FULL, IDLE, DEADLINE, DRAIN = "full", "idle", "deadline", "drain"  # why a batch was started
SLACK = 1e-9  # seconds; deadlines that differ by less are equal


@dataclass(slots=True)  # not frozen: every batch makes one, and freezing takes four times as long
class Run:
    """Run the first ``rows`` rows, those of the first ``count`` queries, at ``size``.

    ``rows`` is less than the first query holds where that query alone exceeds the largest batch.
    """

    count: int
    rows: int
    size: int
    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Decide again at ``until``, or when something arrives."""

    until: float


@dataclass(frozen=True, slots=True)
class Drop:
    """The first ``count`` queries cannot be met; then decide again."""

    count: int


Decision = Run | Wait | Drop
Decide = Callable[[Lane, Servable, float, int], Decision]
Learn = Callable[[int, Sequence[int], bool], int]


def _keep(target: int, sizes: Sequence[int], late: bool) -> int:
    return target


@dataclass(frozen=True, slots=True)
class Rule:
    """A batching rule: ``decide(lane, servable, now, target)`` for a lane that is not empty.

    ``target`` is the rule's only memory, a batch size that starts at 1 and that ``learn(target, sizes, late)`` renews
    after every batch; most rules ignore it.
    """

    decide: Decide
    learn: Learn = _keep


def eager(lane: Lane, servable: Servable, now: float, target: int = 1) -> Decision:
    """Run what is queued as soon as the device is idle, in batches of the best rate. Work-conserving; the default."""
    limit = servable.brisk[min(lane.total, servable.cap)]
    hopeless = count_hopeless(lane, servable, now, limit)
    if hopeless:
        return Drop(hopeless)
    count, rows = lane.fitting(0, limit)
    full = count < len(lane.rows) or rows == servable.cap
    return Run(count, rows, servable.padded[rows], FULL if full else IDLE)


def filled(lane: Lane, servable: Servable, now: float) -> Decision:
    """As many rows as fit, whatever their rate: what the rules that wait start from."""
    hopeless = count_hopeless(lane, servable, now)
    return Drop(hopeless) if hopeless else fill(lane, servable, IDLE)


def deadline(lane: Lane, servable: Servable, now: float, target: int = 1) -> Decision:
    """Wait while one more row could still join and the first deadline be met; then run what is queued.

    The rule of Proteus (ASPLOS 2024), T_wait(q+1) = first deadline - latency(q+1), mended as this file's head says.
    """
    decision = filled(lane, servable, now)
    if not isinstance(decision, Run) or decision.reason == FULL:
        return decision
    return wait_until(lane.deadlines[0] - servable.latency[decision.rows + 1], decision, now)


def nexus(lane: Lane, servable: Servable, now: float, target: int = 1) -> Decision:
    """Run the largest batch when it is there; else on a timer, set to the last start that serves a full batch in time.

    After Nexus (SOSP 2019): its batches are planned full, so the timer reckons with the full batch's latency.
    """
    decision = filled(lane, servable, now)
    if not isinstance(decision, Run) or decision.reason == FULL:
        return decision
    return wait_until(lane.deadlines[0] - servable.latency[servable.cap], decision, now)


def aimd(lane: Lane, servable: Servable, now: float, target: int = 1) -> Decision:
    """Run when ``target`` rows are queued or the first deadline allows no more waiting. After Clipper (NSDI 2017).

    The batch is no larger than the target, so that what is learned is the latency of that size.
    """
    limit = max(target, lane.rows[0])
    hopeless = count_hopeless(lane, servable, now, limit)
    if hopeless:
        return Drop(hopeless)
    run = fill(lane, servable, IDLE, limit)
    if run.reason == FULL:
        return run
    return wait_until(lane.deadlines[0] - servable.latency[run.rows], run, now)


def aimd_learn(target: int, sizes: Sequence[int], late: bool) -> int:
    """One allowed size down after a batch with a late member, else one up."""
    place = sum(size <= target for size in sizes) - 1
    return sizes[max(0, min(len(sizes) - 1, place + (-1 if late else 1)))]


def fill(lane: Lane, servable: Servable, reason: str, limit: int | None = None) -> Run:
    """The batch made of the lane's first queries: as many as fit, in order; ``reason`` becomes full if no more do.

    Batches hold at most ``limit`` rows, by default the largest batch. A first query with more rows than that gives
    as many as fit.
    """
    cap = servable.cap if limit is None else min(limit, servable.cap)
    count, rows = lane.fitting(0, cap)
    full = rows == cap or count < len(lane.rows)
    return Run(count, rows, servable.padded[rows], FULL if full else reason)


def count_hopeless(lane: Lane, servable: Servable, now: float, limit: int | None = None) -> int:
    """How many queries at the head cannot end in time in the batch that would be filled with them."""
    cap = servable.cap if limit is None else min(limit, servable.cap)
    for place, wanted in enumerate(lane.deadlines):
        _, rows = lane.fitting(place, cap)
        if now + servable.span(max(rows, lane.rows[place])) <= wanted + SLACK:
            return place
    return len(lane.deadlines)


def wait_until(until: float, run: Run, now: float) -> Decision:
    """Wait, or run if that time has come."""
    return Wait(until) if now < until - SLACK else Run(run.count, run.rows, run.size, DEADLINE)


RULES: Mapping[str, Rule] = {
    "eager": Rule(eager),
    "deadline": Rule(deadline),
    "nexus": Rule(nexus),
    "aimd": Rule(aimd, aimd_learn),
}
