"""All figures of a run: its scorecard, each application's, and the same as the JSON every command writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidewise.core.outcome import Outcome
from tidewise.core.run import Run
from tidewise.core.scorecard import Scorecard, per_application, quantile, scorecard


@dataclass(frozen=True, slots=True)
class Card:
    """The scorecards of a run.

    ``worst`` names the application with the lowest on-time accuracy per arrival. ``lateness`` is the 99th percentile
    of seconds a query was sent after it was due; ``cpu`` the highest five-second mean of the machine's CPU use, None
    if it was not sampled. ``measured`` is, by application, the fraction of answers on time whose label was right.
    """

    whole: Scorecard
    applications: Mapping[str, Scorecard]
    worst: str | None
    lateness: float | None
    cpu: float | None
    measured: Mapping[str, float]


def card_of(run: Run) -> Card:
    """The scorecards of a run."""
    applications = per_application(run.records, run.best)
    return Card(
        whole=scorecard(run.records, run.best),
        applications=applications,
        worst=min(applications, key=lambda name: applications[name].on_time_accuracy_per_arrival, default=None),
        lateness=quantile(sorted(max(0.0, one.sent - one.due) for one in run.records), 0.99),
        cpu=_busiest(run),
        measured=_measured(run),
    )


def card_values(run: Run, card: Card) -> dict[str, Any]:
    """What `--json` writes: all ratios fractions of 1, durations in milliseconds."""
    return {
        "run": run.name,
        "policy": run.policy,
        "seconds": run.seconds,
        "scorecard": {
            **_values(card.whole),
            "per_application": {name: _values(one) for name, one in card.applications.items()},
            "plan_versions": [one.plan.version for one in run.plans],
            "queries_per_variant": dict(card.whole.queries_per_variant),
        },
        "worst_application": card.worst,
        "trace_arrivals": run.arrivals,
        "send_lateness_p99_ms": None if card.lateness is None else 1e3 * card.lateness,
        "machine_cpu_busiest_5s": card.cpu,
        "measured_accuracy": dict(card.measured),
    }


def _values(one: Scorecard) -> dict[str, Any]:
    return {
        "arrivals": one.arrivals,
        "outcomes": dict(one.outcomes),
        "violation_ratio": one.violation_ratio,
        "effective_accuracy": one.effective_accuracy,
        "accuracy_drop": one.accuracy_drop,
        "on_time_accuracy_per_arrival": one.on_time_accuracy_per_arrival,
        "latency_p50_ms": None if one.latency_p50 is None else 1e3 * one.latency_p50,
        "latency_p99_ms": None if one.latency_p99 is None else 1e3 * one.latency_p99,
    }


def _busiest(run: Run, window: float = 5.0) -> float | None:
    means = []
    for last in run.machine:
        recent = [one.cpu for one in run.machine if last.at - window < one.at <= last.at]
        means.append(sum(recent) / len(recent))
    return max(means, default=None)


def _measured(run: Run) -> dict[str, float]:
    found = {}
    for name in run.applications:
        labelled = [
            one.correct
            for one in run.records
            if one.application == name and one.outcome is Outcome.ON_TIME and one.correct is not None
        ]
        if labelled:
            found[name] = sum(labelled) / len(labelled)
    return found
