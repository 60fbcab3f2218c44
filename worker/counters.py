"""Plain counts of what one device did since it started; metrics and reports are made from them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from tidewise.core.histogram import Histogram
from tidewise.core.outcome import Outcome, Reason
from tidewise.worker.query import Batch, Query
from tidewise.worker.servable import Model


@dataclass(slots=True)
class VariantCounters:
    """One variant's share. ``sizes`` counts batches by rows before padding; times are sums in seconds.

    ``computed`` adds up batches, ``durations`` counts them by duration, ``query_seconds`` adds up the batches of each
    answered query. ``expected`` adds up what the profile gave the batches in ``computed``.
    """

    served: int = 0
    failed: int = 0
    late: int = 0
    batches: int = 0
    rows: int = 0
    queued: float = 0.0
    computed: float = 0.0
    query_seconds: float = 0.0
    last: float = 0.0
    durations: Histogram = field(default_factory=Histogram)
    sizes: Counter[int] = field(default_factory=Counter)
    computed_by_size: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    expected: float = 0.0


@dataclass(slots=True)
class Counters:
    """Every arrival is in exactly one of answered (on time or late), ended (by reason), queued or running.

    ``dispatches`` counts batches by why they were started; their sum is the number of batches.
    """

    arrivals: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    ended: Counter[tuple[str, Reason]] = field(default_factory=Counter)
    dispatches: Counter[str] = field(default_factory=Counter)
    variants: dict[tuple[str, str], VariantCounters] = field(default_factory=dict)

    def of(self, model: Model) -> VariantCounters:
        """The counters of one variant, made at first use."""
        found = self.variants.get(model[:2])
        if found is None:
            found = self.variants[model[:2]] = VariantCounters()
        return found

    def batch_done(self, batch: Batch, now: float) -> VariantCounters:
        """Count a batch that ended; its queries are counted one by one."""
        counts = self.of(batch.servable.model)
        seconds = now - batch.started
        counts.batches += 1
        counts.rows += batch.rows
        counts.computed += seconds
        counts.expected += batch.servable.latency[batch.rows]
        counts.durations.add(seconds)
        counts.last = now
        counts.sizes[batch.rows] += 1
        counts.computed_by_size[batch.rows] += seconds
        return counts

    def answered(self, query: Query, batch: Batch, late: bool, counts: VariantCounters, now: float) -> None:
        """Count an answer."""
        counts.served += 1
        counts.late += late
        counts.queued += batch.started - query.arrived
        counts.query_seconds += now - batch.started
        self.outcomes[Outcome.LATE if late else Outcome.ON_TIME] += 1

    @property
    def violations(self) -> int:
        """Arrivals that were not answered in time so far."""
        return sum(self.outcomes.values()) - self.outcomes[Outcome.ON_TIME]
