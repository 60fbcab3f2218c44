"""Whether figures taken alone hold when a sibling is warm beside a variant, as it is in service.

Thread pools of several sessions in one process can fight for the same cores; then each is slower in turn than alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from tidewise.worker.engine.base import Session
from tidewise.worker.profiling.measure import Clock, Measured, time_in_turn
from tidewise.worker.samples import Samples

SIZE = 8  # rows of the batch tried, or the largest measured below
ROUNDS = 9
SLACK = 1.15  # a batch may take this many times as long in company before it is noted...
FLOOR = 2e-4  # ...if that is at least so many seconds more: less is lost in noise


def slower_in_company(
    company: Session,
    session: Session,
    outputs: Sequence[str],
    samples: Samples,
    alone: Sequence[Measured],
    clock: Clock = time.perf_counter,
) -> Iterator[str]:
    """A note if a batch takes clearly longer right after one of the company's than it did ``alone``; else nothing."""
    tried = next((one for one in reversed(alone) if one.size <= SIZE), alone[0])
    before = tried.summary.p50
    after = time_in_turn(company, session, outputs, samples.queries(tried.size), ROUNDS, clock)
    if after > before * SLACK and after - before > FLOOR:
        yield f"in turn with a sibling, batch size {tried.size} takes {after / before:.2f} times as long as alone"
