"""What counting and naming add to a query: `python bench/metrics.py [--json]`.

Processor time of this thread per query, median of rounds, in microseconds:

router          tally, statistics, and what the worker is passed on, of a query that is answered
router_unnamed  the same for a query that comes without a name, so that one is made up
worker          the process's tally, and its share of one batch's counters with batches of one
log_line        a query that is not answered, its line written
log_withheld    one that is only counted, beyond the rate
scrape_ms       one scrape of a router with 20 applications of 5 variants each, in milliseconds
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import random
import statistics
import sys
import time
from collections.abc import Callable

from tidewise.cli.logs import JsonLines
from tidewise.core.histogram import Histogram
from tidewise.core.loss import Loss
from tidewise.core.outcome import Outcome, Reason
from tidewise.dashboard.loss_log import LossLog
from tidewise.dashboard.quota import Quota
from tidewise.router.forward import Forwarder
from tidewise.router.head import AnswerHead
from tidewise.router.identity import Identities
from tidewise.router.statistics import Statistics
from tidewise.router.tally import TallyBook
from tidewise.router.telemetry import Telemetry
from tidewise.worker.answer import Answer
from tidewise.worker.tally import Tally

METADATA = (("user-agent", "grpc-python/1.0"),)
ANSWER = AnswerHead("2", 0.004, 0.012, 4)
LOSS = Loss("garments", "garments", Outcome.REFUSED, Reason.PREDICTED_LATE, "too busy", "r-1")


def main() -> None:
    found = {
        "router": per_call(router("q-17")),
        "router_unnamed": per_call(router("")),
        "worker": per_call(worker()),
        **asyncio.run(log_costs()),
        "scrape_ms": scrape(),
    }
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:<16}{value:8.2f} {'ms' if name == 'scrape_ms' else 'us'}")


def router(query_id: str) -> Callable[[], None]:
    tally, figures, identities = TallyBook(0.0), Statistics(), Identities("0")
    tally.know(["garments"])

    def query() -> None:
        label = tally.arrived("garments")
        identities.passed_on(METADATA, query_id)
        tally.ended(label, Outcome.ON_TIME, "fine")
        figures.record("garments", "fine", 0.020, ANSWER, 0.0, 1.0)

    return query


def worker() -> Callable[[], None]:
    tally, durations = Tally(), Histogram()
    answer = Answer({}, "fine", 2, 1, 0.004, 0.012, 1)

    def query() -> None:
        durations.add(0.012)
        tally.answered("garments", "cpu", answer, 0.020, True)

    return query


async def log_costs() -> dict[str, float]:
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(JsonLines("router"))
    log = logging.Logger("bench")
    log.addHandler(handler)
    open_handed, strict = LossLog(log, Quota(limit=10**9)), LossLog(log, Quota(limit=0, period=1e9))
    return {
        "log_line": per_call(lambda: open_handed.lost(LOSS), 5_000),
        "log_withheld": per_call(lambda: strict.lost(LOSS)),
    }


def scrape() -> float:
    forwarder = Forwarder(random.Random(0))
    forwarder.tally.know([f"a{number}" for number in range(20)])
    for number in range(20):
        forwarder.tally.ended(forwarder.tally.arrived(f"a{number}"), Outcome.ON_TIME)
        for variant in range(5):
            forwarder.statistics.record(f"a{number}", f"v{variant}", 0.020, ANSWER, 0.0, 1.0)
    text = Telemetry(forwarder, lambda: True).metrics.text
    return per_call(lambda: text() and None, 20) / 1e3


def per_call(call: Callable[[], None], times: int = 50_000, rounds: int = 7) -> float:
    took = []
    for _ in range(rounds):
        began = time.thread_time()
        for _ in range(times):
            call()
        took.append((time.thread_time() - began) / times)
    return round(1e6 * statistics.median(took), 3)


if __name__ == "__main__":
    main()
