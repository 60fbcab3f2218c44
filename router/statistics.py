"""What a router has seen of each variant since it started: the figures behind ModelStatistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidewise.router.head import AnswerHead


@dataclass(slots=True)
class Figures:
    """Sums over the answered queries of one variant; times in seconds.

    ``executions`` counts batches: each query contributes the part of its batch that it was. ``batches`` holds, by
    batch size, queries and their computing time.
    """

    answered: int = 0
    total: float = 0.0
    queued: float = 0.0
    computed: float = 0.0
    executions: float = 0.0
    last: float = 0.0
    batches: dict[int, tuple[int, float]] = field(default_factory=dict)


class Statistics:
    """Figures by application and variant name. Queries that no variant answered belong to none."""

    def __init__(self) -> None:
        self._figures: dict[tuple[str, str], Figures] = {}

    def record(self, application: str, variant: str, total: float, answer: AnswerHead, at: float) -> None:
        """Count one answer that took ``total`` seconds at the router; ``at`` is its wall-clock time."""
        figures = self._figures.setdefault((application, variant), Figures())
        figures.answered += 1
        figures.total += total
        figures.queued += answer.queued
        figures.computed += answer.computed
        figures.executions += 1 / answer.batch
        figures.last = at
        queries, computed = figures.batches.get(answer.batch, (0, 0.0))
        figures.batches[answer.batch] = queries + 1, computed + answer.computed

    def add(
        self,
        application: str,
        variant: str,
        total: float,
        queued: float,
        computed: float,
        last: float,
        batches: Iterable[tuple[int, int, float]],
    ) -> None:
        """Take over what has been counted elsewhere; ``batches`` are (batch size, queries, seconds computed)."""
        figures = self._figures.setdefault((application, variant), Figures())
        figures.total += total
        figures.queued += queued
        figures.computed += computed
        figures.last = last
        for size, queries, seconds in batches:
            figures.answered += queries
            figures.executions += queries / size
            before, spent = figures.batches.get(size, (0, 0.0))
            figures.batches[size] = before + queries, spent + seconds

    def of(self, application: str, variant: str) -> Figures:
        """The figures so far."""
        return self._figures.get((application, variant), Figures())

    def keep(self, variants: Mapping[str, frozenset[str]]) -> None:
        """Forget whatever is not among these variants by application."""
        self._figures = {key: one for key, one in self._figures.items() if key[1] in variants.get(key[0], frozenset())}
