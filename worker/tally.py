"""How the queries of one worker process ended, and where their time went: plain counts since it started."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tidewise.core.histogram import Histogram
from tidewise.core.metrics_catalogue import NO_REASON
from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome, Reason
from tidewise.worker.answer import Answer


@dataclass(slots=True)
class Stages:
    """The answered queries of one variant on one device type, in seconds; the stages sum to ``total``.

    ``queue`` is the time while the device was busy, ``batch`` that while it was idle and waited for more queries to run
    together, ``reply`` all that is none of the others: checking the query, handing it over, encoding the answer.
    """

    total: Histogram = field(default_factory=Histogram)
    queue: Histogram = field(default_factory=Histogram)
    batch: Histogram = field(default_factory=Histogram)
    compute: Histogram = field(default_factory=Histogram)
    reply: Histogram = field(default_factory=Histogram)

    def add(self, total: float, answer: Answer) -> None:
        """Count one answer that took this long from its query's arrival."""
        inside = answer.queued + answer.computed
        total = max(total, inside)
        self.total.add(total)
        self.queue.add(answer.queued - answer.waited)
        self.batch.add(answer.waited)
        self.compute.add(answer.computed)
        self.reply.add(total - inside)


@dataclass(slots=True)
class Tally:
    """``ended`` by application, outcome and reason; ``stages`` by application, variant and device type.

    Whoever counts bounds the names.
    """

    ended: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    stages: dict[tuple[str, str, str], Stages] = field(default_factory=dict)

    def answered(self, application: str, device_type: str, answer: Answer, total: float, on_time: bool) -> None:
        """Count an answer that took ``total`` seconds from the query's arrival to its bytes."""
        self.ended[application, Outcome.ON_TIME if on_time else Outcome.LATE, NO_REASON] += 1
        key = application, answer.variant, device_type
        stages = self.stages.get(key)
        if stages is None:
            stages = self.stages[key] = Stages()
        stages.add(total, answer)

    def lost(self, application: str, reason: Reason) -> None:
        """Count a query that was not answered."""
        self.ended[application, OUTCOME_OF_REASON[reason], reason] += 1
