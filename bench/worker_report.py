"""What bench/worker.py found, for a person and as the figures its goals are about."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

GOAL = 0.95  # engine_ratio of the most accurate variant
DECISION_GOAL, TIMER_GOAL = 20.0, 300.0  # microseconds


@dataclass(frozen=True, slots=True)
class Result:
    """One variant, medians over the rounds; what was not measured is None."""

    application: str
    variant: str
    accuracy: float | None
    batch: int
    bare_qps: float
    engine_qps: float
    engine_ratio: float
    cpu_ratio: float
    decision_us: float | None
    python_ratio: float | None = None
    python_cpu_us: float | None = None
    front_ratio: float | None = None
    front_cpu_us: float | None = None


def top_variants(results: Sequence[Result]) -> list[Result]:
    """The most accurate variant of each application."""
    names = dict.fromkeys(one.application for one in results)
    return [
        max((one for one in results if one.application == name), key=lambda one: one.accuracy or 0) for name in names
    ]


def summary(results: Sequence[Result], late: Sequence[float]) -> dict[str, float | None]:
    """What the goals are about: the worst application's ratio, a decision's cost, timers' lateness."""
    decisions = [one.decision_us for one in results if one.decision_us is not None]
    return {
        "engine_ratio": min(one.engine_ratio for one in top_variants(results)),
        "decision_us": statistics.median(decisions) if decisions else None,
        "timer_late_p99_us": sorted(late)[int(0.99 * (len(late) - 1))] * 1e6,
    }


def tell(values: Mapping[str, object], results: Sequence[Result]) -> None:
    """The same for a person."""
    click.echo(f"{values['host']}, {values['engine']} engine, {values['batcher']} batcher; one thread")
    click.echo(f"{'':24}{'':>6}{'queries/s':>20}{'ratio to the bare loop':>32}{'CPU us':>18}")
    click.echo(
        f"{'application':<12}{'variant':<12}{'batch':>6}{'bare':>10}{'engine':>10}{'engine':>8}{'cpu':>8}"
        f"{'python':>8}{'front':>8}{'python':>10}{'front':>8}{'decision':>10}"
    )
    for one in results:
        shares = [one.engine_ratio, one.cpu_ratio, one.python_ratio, one.front_ratio]
        costs = [one.python_cpu_us, one.front_cpu_us, one.decision_us]
        click.echo(
            f"{one.application:<12}{one.variant:<12}{one.batch:>6}{one.bare_qps:>10.0f}{one.engine_qps:>10.0f}"
            + "".join(f"{'-':>8}" if share is None else f"{share:>8.3f}" for share in shares)
            + "".join(f"{'-':>10}" if cost is None else f"{cost:>10.1f}" for cost in costs)
        )
    for key, goal, least in (
        ("engine_ratio", GOAL, True),
        ("decision_us", DECISION_GOAL, False),
        ("timer_late_p99_us", TIMER_GOAL, False),
    ):
        value = values[key]
        if isinstance(value, float):
            holds = value >= goal if least else value <= goal
            click.echo(f"{key} {value:.3f}; the goal of {goal:g} {'holds' if holds else 'is missed'}")
