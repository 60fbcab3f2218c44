"""Seconds by which batches are expected to outlast their profile: what a device adds before it promises to be in time.

Profiles are taken in quiet; in service the processor is shared, and the answer has its way back still to go.
"""

from __future__ import annotations

WANTED = 0.95  # share of batches that should end within profile + margin
STEP = 0.1  # of the batch's profiled seconds
RELAX = 0.9


def renewed(margin: float, expected: float, took: float, least: float = 0.0) -> float:
    """The margin after a batch that was profiled at ``expected`` seconds and took ``took``; never under ``least``.

    Follows the 95 % quantile: up by .95 of a step after a batch that was too slow, down by .05 of one otherwise, so
    that one bad outlier moves it no further than any other.
    """
    exceeded = took > expected + margin
    return max(least, margin + STEP * expected * (WANTED if exceeded else WANTED - 1))


def relaxed(margin: float, least: float = 0.0) -> float:
    """The margin after an idle device had to drop all it had: perhaps the margin alone was the reason.

    Without this a margin learnt in a bad minute could keep the device from ever running the batch that unlearns it.
    """
    return max(least, RELAX * margin)
