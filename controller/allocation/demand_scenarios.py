"""Demand scenarios from the history of rates: what the next minutes may bring, and two stress vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidewise.controller.allocation.problem import Floats


@dataclass(frozen=True, slots=True)
class Outlook:
    """How scenarios are made of history. Times in seconds, the rest factors and weights."""

    recent: float = 3.0
    level: float = 10.0
    long: float = 30.0
    memory: float = 60.0  # the busiest ``level`` seconds of this much history are one scenario
    growth: float = 1.25
    surge: float = 1.6
    growth_weight: float = 0.3  # relative to the scenarios seen
    surge_weight: float = 0.15
    margin: float = 1.05
    sigmas: float = 0.5


def scenarios(
    history: Floats, step: float, slo: Floats, dispersion: Floats, outlook: Outlook | None = None
) -> tuple[Floats, Floats]:
    """Demands (S, A) in queries per second and their weights (S, summing to 1).

    ``history`` (A, n) counts arrivals in the last n steps of ``step`` seconds, newest last; ``slo`` (A) in seconds;
    ``dispersion`` (A) is each application's index of dispersion. sigma_a = sqrt(dispersion_a rate_a / (slo_a / 2)) is
    what a queue notices of the noise.
    """
    outlook = outlook or Outlook()
    level = _rate(history, step, outlook.level)
    seen = [
        (_rate(history, step, outlook.recent), 1.0),
        (_rate(history, step, outlook.long), 1.0),
        (level, 2.0),
        (np.maximum(_busiest(history, step, outlook), level), 1.0),
    ]
    total = sum(weight for _, weight in seen)
    sigma = _sigma(level, slo, dispersion)
    stress = [
        (outlook.growth * level, outlook.growth_weight * total),
        (outlook.surge * (level + 2 * sigma), outlook.surge_weight * total),
    ]
    demands = outlook.margin * np.array([demand for demand, _ in seen + stress])
    weights = np.array([weight for _, weight in seen + stress])
    return demands + outlook.sigmas * _sigma(demands, slo, dispersion), weights / weights.sum()


def _sigma(rate: Floats, slo: Floats, dispersion: Floats) -> Floats:
    noise: Floats = np.sqrt(dispersion * rate / (slo / 2))
    return noise


def _rate(history: Floats, step: float, seconds: float) -> Floats:
    """Mean queries per second over the newest ``seconds``, or over what there is."""
    bins = min(max(1, round(seconds / step)), max(1, history.shape[1]))
    newest: Floats = history[:, history.shape[1] - bins :].sum(axis=1) / (bins * step)
    return newest


def _busiest(history: Floats, step: float, outlook: Outlook) -> Floats:
    """Rates over the window of ``level`` seconds with the most queries in all, within the memory."""
    bins = max(1, round(outlook.level / step))
    kept = history[:, -max(1, round(outlook.memory / step)) :]
    if kept.shape[1] <= bins:
        return _rate(history, step, outlook.level)
    sums = np.cumsum(np.pad(kept, ((0, 0), (1, 0))), axis=1)
    windows = sums[:, bins:] - sums[:, :-bins]
    busiest: Floats = windows[:, int(windows.sum(axis=0).argmax())] / (bins * step)
    return busiest
