"""What a router has seen of each variant since it started: the figures behind ModelStatistics and the metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidewise.core.histogram import Histogram, merged
from tidewise.router.head import AnswerHead


@dataclass(slots=True)
class Figures:
    """The answered queries of one variant; times in seconds.

    ``total`` is the time at the router, ``queued`` and ``computed`` what the worker says of it, ``forward`` the rest.
    ``worth`` sums the variant's normalised accuracy over answers in time. ``executions`` counts batches: each query
    contributes the part of its batch that it was. ``batches`` holds, by batch size, queries and their computing time.
    """

    total: Histogram = field(default_factory=Histogram)
    forward: Histogram = field(default_factory=Histogram)
    queued: Histogram = field(default_factory=Histogram)
    computed: Histogram = field(default_factory=Histogram)
    worth: float = 0.0
    executions: float = 0.0
    last: float = 0.0
    batches: dict[int, tuple[int, float]] = field(default_factory=dict)


class Statistics:
    """Figures by application and variant name. Queries that no variant answered belong to none."""

    def __init__(self) -> None:
        self._figures: dict[tuple[str, str], Figures] = {}

    def record(
        self, application: str, variant: str, total: float, answer: AnswerHead, at: float, worth: float = 0.0
    ) -> None:
        """Count one answer that took ``total`` seconds at the router; ``at`` is its wall-clock time.

        ``worth`` is the variant's normalised accuracy if the answer came in time.
        """
        figures = self._figures.get((application, variant))
        if figures is None:
            figures = self._figures[application, variant] = Figures()
        inside = answer.queued + answer.computed
        total = max(total, inside)  # clocks of two processes may differ by a little; the stages must sum to the total
        figures.total.add(total)
        figures.forward.add(total - inside)
        figures.queued.add(answer.queued)
        figures.computed.add(answer.computed)
        figures.worth += worth
        figures.executions += 1 / answer.batch
        figures.last = at
        queries, spent = figures.batches.get(answer.batch, (0, 0.0))
        figures.batches[answer.batch] = queries + 1, spent + answer.computed

    def add(self, application: str, variant: str, more: Figures) -> None:
        """Take over what has been counted elsewhere."""
        figures = self._figures.setdefault((application, variant), Figures())
        figures.total = merged((figures.total, more.total))
        figures.forward = merged((figures.forward, more.forward))
        figures.queued = merged((figures.queued, more.queued))
        figures.computed = merged((figures.computed, more.computed))
        figures.worth += more.worth
        figures.executions += more.executions
        figures.last = max(figures.last, more.last)
        for size, (queries, seconds) in more.batches.items():
            before, spent = figures.batches.get(size, (0, 0.0))
            figures.batches[size] = before + queries, spent + seconds

    def of(self, application: str, variant: str) -> Figures:
        """The figures so far."""
        return self._figures.get((application, variant)) or Figures()

    def all(self) -> list[tuple[tuple[str, str], Figures]]:
        """Every variant's figures so far; safe to call from another thread."""
        return list(self._figures.items())

    def keep(self, variants: Mapping[str, frozenset[str]]) -> None:
        """Forget whatever is not among these variants by application."""
        self._figures = {key: one for key, one in self._figures.items() if key[1] in variants.get(key[0], frozenset())}
