"""Recent figures for a live view, kept up as queries end."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Mapping

from tidewise.core.live import LiveApplication
from tidewise.core.outcome import Outcome
from tidewise.core.record import QueryRecord
from tidewise.core.run import RunApplication
from tidewise.core.scorecard import effective_accuracy, quantile, violation_ratio

RECENT = 5.0  # seconds that count as now
SHOWN = 96  # seconds of demand history


class LiveTally:
    """Counts queries as they end and gives each application's figures of the last five seconds.

    A query counts in the second in which it was due; the second under way is left out of the demand, being unfinished.
    Times are seconds since the start of the run.
    """

    def __init__(self, applications: Mapping[str, RunApplication]) -> None:
        self.outcomes: Counter[str] = Counter()
        self._applications = applications
        self._best = {name: one.best_accuracy for name, one in applications.items()}
        self._due: dict[str, Counter[int]] = {name: Counter() for name in applications}
        self._recent: dict[str, deque[QueryRecord]] = {name: deque() for name in applications}
        self._accuracies: list[float] = [0.0, 0.0]  # sum of normalised accuracies on time, and their number

    def add(self, record: QueryRecord) -> None:
        """Count one query that has ended; queries of applications not announced count only as outcomes."""
        self.outcomes[record.outcome.value] += 1
        if record.application not in self._applications:
            return
        self._due[record.application][int(record.due)] += 1
        self._recent[record.application].append(record)
        if record.outcome is Outcome.ON_TIME and record.accuracy is not None:
            self._accuracies[0] += record.accuracy / self._best[record.application]
            self._accuracies[1] += 1

    @property
    def normalised(self) -> float | None:
        """Effective accuracy over all queries so far."""
        total, number = self._accuracies
        return total / number if number else None

    def applications(self, now: float, planned: Mapping[str, float]) -> tuple[LiveApplication, ...]:
        """Every application's figures at this moment; ``planned`` is the demand the plan in force is for."""
        return tuple(self._application(name, now, planned.get(name)) for name in self._applications)

    def _application(self, name: str, now: float, planned: float | None) -> LiveApplication:
        recent = self._recent[name]
        while recent and recent[0].ended < now - RECENT:
            recent.popleft()
        history = self._history(name, now)
        outcomes = Counter(one.outcome.value for one in recent)
        normalised = effective_accuracy(recent, self._best)
        took = sorted(one.ended - one.due for one in recent if one.outcome in (Outcome.ON_TIME, Outcome.LATE))
        return LiveApplication(
            name=name,
            slo=self._applications[name].slo,
            demand=history[-1] if history else 0.0,
            history=history,
            planned=planned,
            accuracy=None if normalised is None else normalised * self._best[name],
            normalised=normalised,
            violations=violation_ratio(outcomes) if recent else None,
            latency_p50=quantile(took, 0.5),
            latency_p99=quantile(took, 0.99),
        )

    def _history(self, name: str, now: float) -> tuple[float, ...]:
        """Queries due in each whole second that every deadline has passed of, the last of them."""
        end = math.floor(now - self._applications[name].slo)
        return tuple(float(self._due[name][second]) for second in range(max(0, end - SHOWN), end))
