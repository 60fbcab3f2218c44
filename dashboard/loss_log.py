"""One log line for every query that was not answered; beyond a rate, one line a second that says how many."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter

from tidewise.core.loss import Loss
from tidewise.core.outcome import Outcome, Reason
from tidewise.dashboard.quota import Quota

SHOWN = 128  # characters of a caller's text that a line repeats
SENTENCE = 400


class LossLog:
    """Writes losses to a logger from within an event loop. Nothing is left out: what is not a line is in a count."""

    def __init__(self, log: logging.Logger, quota: Quota | None = None) -> None:
        self._log = log
        self._quota = quota or Quota()
        self._timer: asyncio.TimerHandle | None = None

    def lost(self, loss: Loss) -> None:
        """A query was not answered."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._quota.due() <= now:
            self.flush(now)
        if self._quota.lets((loss.label, loss.reason), now):
            level = logging.WARNING if loss.outcome is Outcome.FAILED else logging.INFO
            self._log.log(level, "query %s", loss.outcome, extra=_values(loss))
        elif self._timer is None:
            self._timer = loop.call_at(self._quota.due(), self._ring)

    def untold(self, label: str, reason: Reason, count: int) -> None:
        """So many more were not answered, of which nothing else is known."""
        loop = asyncio.get_running_loop()
        self._quota.withhold((label, reason), count, loop.time())
        if self._timer is None:
            self._timer = loop.call_at(self._quota.due(), self._ring)

    def close(self) -> None:
        """Say what has been withheld; nothing is lost when the process ends."""
        if self._timer is not None:
            self.flush(self._timer.when())

    def flush(self, now: float) -> None:
        """Say what has been withheld up to now, if anything was."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        withheld = self._quota.take(now)
        if not withheld.counts:
            return
        reasons: Counter[str] = Counter()
        for (label, reason), count in withheld.counts.items():
            reasons[f"{label} {reason}"] += count
        self._log.warning(
            "%d more queries were not answered",
            reasons.total(),
            extra={
                "count": reasons.total(),
                "seconds": round(withheld.until - withheld.since, 3),
                "reasons": dict(reasons),
            },
        )

    def _ring(self) -> None:
        self._timer = None
        self.flush(asyncio.get_running_loop().time())


def _values(loss: Loss) -> dict[str, str]:
    values = {
        "application": loss.application[:SHOWN],
        "outcome": loss.outcome.value,
        "reason": loss.reason.value,
        "request_id": loss.request_id[:SHOWN],
        "query_id": loss.query_id[:SHOWN] if loss.query_id != loss.request_id else "",
        "worker": loss.worker,
        "traceparent": loss.traceparent[:SHOWN],
        "sentence": loss.sentence[:SENTENCE],
    }
    return {key: value for key, value in values.items() if value}
