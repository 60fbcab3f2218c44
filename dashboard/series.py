"""A run as figures over time: what the plots show, counted in bins of equal width by the time a query was due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidewise.core.outcome import Outcome
from tidewise.core.run import Run

Floats = NDArray[np.float64]
Key = tuple[str, str]  # application, variant
WIDTHS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
MOST_BINS = 150
OUTCOMES = tuple(Outcome)
ON_TIME = OUTCOMES.index(Outcome.ON_TIME)
ANSWERED = (ON_TIME, OUTCOMES.index(Outcome.LATE))


@dataclass(frozen=True, slots=True)
class Columns:
    """The records of a run as arrays, one entry a query; ``variant`` indexes ``keys``, -1 if none answered.

    ``accuracy`` is normalised to the application's best and NaN where no variant answered; ``pressure`` is latency as
    a fraction of the deadline.
    """

    seconds: float
    keys: tuple[Key, ...]
    application: NDArray[np.str_]
    due: Floats
    latency: Floats
    pressure: Floats
    outcome: NDArray[np.int_]
    variant: NDArray[np.int_]
    accuracy: Floats


@dataclass(frozen=True, slots=True)
class Series:
    """Figures over time, one entry a bin; rates are per second, quantiles and accuracy NaN in bins without answers.

    ``variants`` counts answers on time; with all other outcomes they sum to the arrivals.
    """

    width: float
    middle: Floats
    arrivals: Floats
    outcomes: Mapping[Outcome, Floats]
    variants: Mapping[Key, Floats]
    accuracy: Floats
    p50: Floats
    p99: Floats
    pressure_p50: Floats
    pressure_p99: Floats

    def ratio(self, outcome: Outcome) -> Floats:
        """Share of the arrivals that ended so."""
        return self.outcomes[outcome] / np.maximum(self.arrivals, 1e-9)


def columns(run: Run) -> Columns:
    """The records of a run as arrays."""
    keys = tuple((one.name, variant) for one in run.applications.values() for variant in one.variants)
    index = {key: position for position, key in enumerate(keys)}
    kept = run.records
    best = run.best
    latency = np.array([one.ended - one.due for one in kept], dtype=float)
    return Columns(
        seconds=run.seconds,
        keys=keys,
        application=np.array([one.application for one in kept], dtype=str),
        due=np.array([one.due for one in kept], dtype=float),
        latency=latency,
        pressure=latency / np.maximum(np.array([one.deadline for one in kept], dtype=float), 1e-9),
        outcome=np.array([OUTCOMES.index(one.outcome) for one in kept], dtype=int),
        variant=np.array([index.get((one.application, one.variant), -1) for one in kept], dtype=int),
        accuracy=np.array(
            [np.nan if one.accuracy is None else one.accuracy / best[one.application] for one in kept], dtype=float
        ),
    )


def bin_width(seconds: float) -> float:
    """The narrowest round width that needs no more than 150 bins."""
    return next((width for width in WIDTHS if seconds / width <= MOST_BINS), seconds / MOST_BINS)


def series(of: Columns, application: str | None = None, width: float | None = None) -> Series:
    """The figures over time of one application, or of all together."""
    width = width or bin_width(of.seconds)
    bins = max(1, int(np.ceil(of.seconds / width - 1e-9)))
    chosen = np.ones(len(of.due), dtype=bool) if application is None else of.application == application
    place = np.clip((of.due / width).astype(int), 0, bins - 1)

    def count(mask: NDArray[np.bool_]) -> Floats:
        return np.bincount(place[chosen & mask], minlength=bins) / width

    def over(values: Floats, share: float) -> Floats:
        answered = chosen & np.isin(of.outcome, ANSWERED)
        return _quantiles(values[answered], place[answered], bins, share)

    everything = np.ones(len(of.due), dtype=bool)
    scored = chosen & (of.outcome == ON_TIME) & ~np.isnan(of.accuracy)
    own = [key for key in of.keys if application in (None, key[0])]
    return Series(
        width=width,
        middle=np.linspace(0.5, bins - 0.5, bins) * width,
        arrivals=count(everything),
        outcomes={outcome: count(of.outcome == code) for code, outcome in enumerate(OUTCOMES)},
        variants={key: count((of.variant == of.keys.index(key)) & (of.outcome == ON_TIME)) for key in own},
        accuracy=_means(of.accuracy[scored], place[scored], bins),
        p50=over(of.latency, 0.5),
        p99=over(of.latency, 0.99),
        pressure_p50=over(of.pressure, 0.5),
        pressure_p99=over(of.pressure, 0.99),
    )


def _means(values: Floats, place: NDArray[np.int_], bins: int) -> Floats:
    counts = np.bincount(place, minlength=bins)
    sums = np.bincount(place, weights=values, minlength=bins)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _quantiles(values: Floats, place: NDArray[np.int_], bins: int, share: float) -> Floats:
    found = np.full(bins, np.nan)
    for number in np.unique(place):
        found[number] = np.quantile(values[place == number], share, method="inverted_cdf")
    return found
