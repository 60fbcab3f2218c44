"""`tidewise trace`: make demand traces, convert recorded demand, look at them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console

from tidewise.cli.demand import (
    STARTER,
    applications_of,
    deadlines_of,
    named_numbers,
    named_texts,
    weights_of,
)
from tidewise.core.errors import InputError, TraceError
from tidewise.core.trace import COLUMNS, Trace, parse_trace
from tidewise.traces import arrivals, convert, rates, reshape
from tidewise.traces.draw import picture, save_png
from tidewise.traces.files import read_lists, read_text, read_trace, write_trace
from tidewise.traces.mix import zipf
from tidewise.traces.statistics import statistics

SHAPES = ("tide", "diurnal", "constant")
UNITS = {"ms": 1e-3, "s": 1.0}

Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def _options(*options: Decorator) -> Decorator:
    """Several options as one decorator, shown in this order."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


_demand = _options(
    click.option("--application", "applications", multiple=True, metavar="NAME[=WEIGHT]", help="Repeat for several."),
    click.option("--deadline-ms", "deadlines", multiple=True, metavar="[NAME=]MS", help="Default: the SLO, or 200."),
    click.option("--zipf", "alpha", type=float, help="Weights by rank to this power (1.001), in the order given."),
    click.option("--repository", type=click.Path(path_type=Path), help="Applications and SLOs come from here."),
    click.option("--cv", type=float, default=1.0, show_default=True, help="Clumping: 0 uniform, 1 Poisson, more: Gamma."),
    click.option("--seed", type=int, default=0, show_default=True),
)


@click.group()
def command() -> None:
    """Make, convert and look at demand traces (CSV: arrival_s,application,deadline_ms; or .parquet)."""


@command.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--seconds", type=click.IntRange(1), default=90, show_default=True)
@click.option("--peak-qps", type=float, default=100.0, show_default=True, help="Rate of the busiest second.")
@click.option("--shape", type=click.Choice(SHAPES), default="tide", show_default=True)
@click.option("--low", type=float, default=0.3, show_default=True, help="Low water of a diurnal shape, of the peak.")
@click.option("--cycles", type=float, default=1.0, show_default=True, help="Tides of a diurnal shape.")
@click.option("--spike", "spikes", multiple=True, metavar="AT:HEIGHT:WIDTH", help="At second AT, HEIGHT times as much.")
@click.option("--drift", type=float, default=0.0, show_default=True, help="Growth by the end, as a fraction.")
@click.option("--noise", type=float, default=0.0, show_default=True, help="Relative standard deviation.")
@_demand
def generate(
    out: Path,
    seconds: int,
    peak_qps: float,
    shape: str,
    low: float,
    cycles: float,
    spikes: Sequence[str],
    drift: float,
    noise: float,
    applications: Sequence[str],
    deadlines: Sequence[str],
    alpha: float | None,
    repository: Path | None,
    cv: float,
    seed: int,
) -> None:
    """Make a trace and write it to OUT.

    Shape tide has two swells and a sharp spike between them; without applications named, those of the repository.
    """
    rng = np.random.default_rng(seed)
    curve = _curve(shape, seconds, low, cycles, rng)
    curve = rates.with_drift(rates.with_spikes(curve, [_spike(one) for one in spikes]), drift)
    curve = rates.with_peak(rates.with_noise(curve, noise, max(1.0, seconds / 15), rng), peak_qps)
    weights, slos = _mix(applications, alpha, repository)
    limits = deadlines_of(weights, {"": 200.0, **named_numbers(deadlines, "--deadline-ms")} if not slos else
                          named_numbers(deadlines, "--deadline-ms"), slos)
    _finish(arrivals.generate(rates.split(curve, weights), limits, cv, rng), out)


def _curve(shape: str, seconds: int, low: float, cycles: float, rng: rates.Generator) -> rates.Rates:
    if shape == "tide":
        return rates.tide(seconds, 1.0, rng)
    return rates.diurnal(seconds, low, 1.0, cycles) if shape == "diurnal" else rates.constant(seconds, 1.0)


def _spike(text: str) -> rates.Spike:
    try:
        at, height, width = map(float, text.split(":"))
    except ValueError:
        raise InputError(f"--spike takes AT:HEIGHT:WIDTH, three numbers, not {text!r}") from None
    return rates.Spike(at, height, width)
