"""Batching rules kept for comparison only: what published systems do, faults included, and no batching at all."""

from __future__ import annotations

from collections.abc import Mapping

from tidewise.worker.adaptive import adaptive
from tidewise.worker.batching import IDLE, RULES, Decision, Drop, Rule, count_hopeless, fill, wait_until
from tidewise.worker.queue import Lane
from tidewise.worker.servable import Servable


def published(lane: Lane, servable: Servable, now: float, target: int = 1) -> Decision:
    """The rule of Proteus as its published code has it.

    Nothing is padded, so the batch is the largest allowed size that is queued; even a full one waits until one more
    could no longer join; nothing is dropped before its deadline has passed.
    """
    size = max((one for one in servable.sizes if one <= lane.total), default=servable.sizes[0])
    run = fill(lane, servable, IDLE, size)
    following = next((one for one in servable.sizes if one > run.rows), servable.cap)
    wanted = lane.total + 1
    latency = servable.latency[following if wanted >= following else min(run.rows, servable.cap)]
    return wait_until(lane.deadlines[0] - latency, run, now)


def single(lane: Lane, servable: Servable, now: float, target: int = 1) -> Decision:
    """One query at a time, as soon as the device is idle: what batching is worth is measured against this."""
    hopeless = count_hopeless(lane, servable, now, 1)
    return Drop(hopeless) if hopeless else fill(lane, servable, IDLE, 1)


COMPARISONS: Mapping[str, Rule] = {"published": Rule(published), "single": Rule(single)}
KNOWN: Mapping[str, Rule] = {**RULES, "adaptive": Rule(adaptive), **COMPARISONS}
"""Every rule a cluster file may name."""
