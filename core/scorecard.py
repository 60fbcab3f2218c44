"""The honest metrics, one function each, used everywhere the same way.

Every arrival ends in exactly one outcome; the outcomes sum to the arrivals. All ratios are fractions of 1.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tidewise.core.outcome import Outcome
from tidewise.core.record import QueryRecord

WINDOW = 10.0  # seconds, for the accuracy drop


@dataclass(frozen=True, slots=True)
class Scorecard:
    """The figures of one application, or of a whole run.

    ``effective_accuracy`` is normalised to each application's best variant and None when nothing was answered in time;
    ``accuracy_drop`` is 1 minus its lowest value over 10-second windows; ``on_time_accuracy_per_arrival`` is effective
    accuracy times (1 - violation ratio), the one figure that dropping queries cannot improve.
    """

    arrivals: int
    outcomes: Mapping[str, int]
    violation_ratio: float
    effective_accuracy: float | None
    accuracy_drop: float | None
    on_time_accuracy_per_arrival: float
    queries_per_variant: Mapping[str, int] = field(default_factory=dict)
    latency_p50: float | None = None
    latency_p99: float | None = None


def violation_ratio(outcomes: Mapping[str, int]) -> float:
    """(late + dropped + refused + failed) / all arrivals; 0 when nothing arrived."""
    arrivals = sum(outcomes.values())
    return (arrivals - outcomes.get(Outcome.ON_TIME, 0)) / arrivals if arrivals else 0.0


def effective_accuracy(records: Iterable[QueryRecord], best: Mapping[str, float]) -> float | None:
    """Mean normalised accuracy of the variants that answered in time, over queries answered in time."""
    values = [one.accuracy / best[one.application] for one in _on_time(records) if one.accuracy is not None]
    return math.fsum(values) / len(values) if values else None


def accuracy_drop(records: Iterable[QueryRecord], best: Mapping[str, float], window: float = WINDOW) -> float | None:
    """1 minus the lowest effective accuracy over windows of ``window`` seconds, by the time a query was due.

    A last window shorter than the others counts too; windows in which nothing was answered in time do not.
    """
    windows: dict[int, list[QueryRecord]] = defaultdict(list)
    for one in _on_time(records):
        windows[int(one.due // window)].append(one)
    values = [value for group in windows.values() if (value := effective_accuracy(group, best)) is not None]
    return 1 - min(values) if values else None


def on_time_accuracy_per_arrival(accuracy: float | None, violations: float) -> float:
    """Effective accuracy times (1 - violation ratio)."""
    return 0.0 if accuracy is None else accuracy * (1 - violations)


def scorecard(records: Sequence[QueryRecord], best: Mapping[str, float]) -> Scorecard:
    """All figures over these records; ``best`` is each application's most accurate variant's accuracy."""
    outcomes = {outcome.value: 0 for outcome in Outcome} | Counter(one.outcome.value for one in records)
    violations = violation_ratio(outcomes)
    accuracy = effective_accuracy(records, best)
    latencies = sorted(one.ended - one.due for one in records if one.outcome in (Outcome.ON_TIME, Outcome.LATE))
    return Scorecard(
        arrivals=len(records),
        outcomes=outcomes,
        violation_ratio=violations,
        effective_accuracy=accuracy,
        accuracy_drop=accuracy_drop(records, best),
        on_time_accuracy_per_arrival=on_time_accuracy_per_arrival(accuracy, violations),
        queries_per_variant=dict(sorted(Counter(_served_by(one) for one in records if one.variant).items())),
        latency_p50=quantile(latencies, 0.5),
        latency_p99=quantile(latencies, 0.99),
    )


def per_application(records: Iterable[QueryRecord], best: Mapping[str, float]) -> dict[str, Scorecard]:
    """A scorecard for each application that had arrivals."""
    groups: dict[str, list[QueryRecord]] = defaultdict(list)
    for one in records:
        groups[one.application].append(one)
    return {name: scorecard(groups[name], best) for name in sorted(groups)}


def quantile(ascending: Sequence[float], share: float) -> float | None:
    """The smallest value with at least this share of the values at or below it; None of nothing."""
    if not ascending:
        return None
    reached = math.ceil(share * len(ascending) - 1e-9)  # .55 of 100 is 55.00000000000001
    return ascending[max(0, reached - 1)]


def _on_time(records: Iterable[QueryRecord]) -> Iterable[QueryRecord]:
    return (one for one in records if one.outcome is Outcome.ON_TIME)


def _served_by(record: QueryRecord) -> str:
    return f"{record.application}/{record.variant}"
