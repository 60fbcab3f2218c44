"""`tidewise trace`: make demand traces, convert recorded demand, look at them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np
from rich.console import Console

from tidewise.cli.demand import Demand, demand_options, named_numbers, named_texts, read_demand
from tidewise.cli.options import json_option
from tidewise.core.errors import InputError, TraceError
from tidewise.core.suffix import PICTURE, TRACE, require_suffix
from tidewise.core.trace import Trace
from tidewise.traces import arrivals, convert, rates, reshape
from tidewise.traces.draw import picture, save_png
from tidewise.traces.files import is_trace, read_lists, read_text, read_trace, write_trace
from tidewise.traces.statistics import Statistics, statistics

UNITS = {"ms": 1e-3, "s": 1.0}
FILE = click.Path(path_type=Path)


@click.group(name="trace", short_help="Make, convert and look at demand traces.")
def command() -> None:
    """Make, convert and look at demand traces (CSV: arrival_s,application,deadline_ms; or .parquet)."""


@command.command()
@click.argument("out", type=FILE)
@click.option("--seconds", type=click.IntRange(1, 1_000_000), default=90, show_default=True)
@click.option("--peak-qps", type=click.FloatRange(0, min_open=True), default=100.0, show_default=True)
@click.option("--shape", type=click.Choice(("tide", "diurnal", "constant")), default="tide", show_default=True)
@click.option("--low", type=float, default=0.3, show_default=True, help="Low water of shape diurnal, of its peak.")
@click.option("--cycles", type=float, default=1.0, show_default=True, help="Tides of shape diurnal.")
@click.option("--spike", "spikes", multiple=True, metavar="AT:HEIGHT:WIDTH", help="Seconds, times, seconds.")
@click.option("--drift", type=float, default=0.0, show_default=True, help="Growth by the end, as a fraction.")
@click.option("--noise", type=float, default=0.0, show_default=True, help="Smooth noise: relative standard deviation.")
@demand_options
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
    alpha: float | None,
    deadlines: Sequence[str],
    repository: Path | None,
    cv: float,
    seed: int,
) -> None:
    """Make a trace and write it to OUT (.csv or .parquet).

    Shape tide has two swells and a sharp spike between them. The busiest second is expected to see --peak-qps
    arrivals. Without --application, the applications are those of the repository.
    """
    require_suffix(out, TRACE, "a trace's name", TraceError)
    rng = np.random.default_rng(seed)
    demand = read_demand(applications, alpha, deadlines, repository)
    curve = _curve(shape, seconds, low, cycles, rng)
    curve = rates.with_drift(rates.with_spikes(curve, [_spike(one) for one in spikes]), drift)
    curve = rates.with_peak(rates.with_noise(curve, noise, max(1.0, seconds / 15), rng), peak_qps)
    trace = arrivals.generate(rates.split(curve, demand.weights), demand.deadlines, cv, rng)
    _write(trace, out)


def _curve(shape: str, seconds: int, low: float, cycles: float, rng: rates.Generator) -> rates.Rates:
    if shape == "tide":
        return rates.tide(seconds, 1.0, rng)
    return rates.diurnal(seconds, low, 1.0, cycles) if shape == "diurnal" else rates.constant(seconds, 1.0)


def _spike(text: str) -> rates.Spike:
    try:
        at, height, width = map(float, text.split(":"))
    except ValueError:
        raise InputError(f"--spike takes AT:HEIGHT:WIDTH, three numbers, not {text!r}") from None
    if width <= 0 or height < 0:
        raise InputError(f"--spike {text}: the height must be at least 0 and the width above 0")
    return rates.Spike(at, height, width)


@command.command(name="convert", short_help="Make a trace of recorded demand.")
@click.argument("source", type=FILE)
@click.argument("out", type=FILE)
@click.option("--unit", type=click.Choice(tuple(UNITS)), default="ms", show_default=True, help="Of lists in a folder.")
@click.option("--rename", "renames", multiple=True, metavar="OLD=NEW", help="Applications; several may become one.")
@click.option("--cut", metavar="START:END", help="Only these seconds.")
@click.option("--keep", type=float, help="Keep this share of the arrivals, at random.")
@click.option("--peak-qps", type=float, help="Scale so that the busiest second has this many arrivals.")
@click.option("--repeat", type=int, help="This many times on end.")
@demand_options
def convert_command(
    source: Path,
    out: Path,
    unit: str,
    renames: Sequence[str],
    cut: str | None,
    keep: float | None,
    peak_qps: float | None,
    repeat: int | None,
    applications: Sequence[str],
    alpha: float | None,
    deadlines: Sequence[str],
    repository: Path | None,
    cv: float,
    seed: int,
) -> None:
    """Make a trace of SOURCE and write it to OUT; then rename, cut, thin, scale and repeat it, in this order.

    SOURCE is a trace; a CSV of arrival counts, one row a second, with a column for each application or one total
    (dealt to the applications by weight); or a folder with one list of arrivals for each application (a line each:
    arrival, accuracy, deadline).
    """
    require_suffix(out, TRACE, "a trace's name", TraceError)
    rng = np.random.default_rng(seed)
    if not source.exists():
        raise TraceError(f"{source} does not exist; name a trace, a file of counts, or a folder of lists")
    if source.is_dir():
        trace = _lists(source, UNITS[unit], deadlines)
    elif is_trace(source):
        trace = read_trace(source)
    else:
        trace = _counts(source, applications, alpha, deadlines, repository, cv, rng)
    trace = reshape.renamed(trace, named_texts(renames, "--rename"))
    trace = trace if cut is None else reshape.cut(trace, *_span(cut))
    trace = trace if keep is None else reshape.thinned(trace, keep, rng)
    trace = trace if peak_qps is None else reshape.scaled(trace, peak_qps, rng)
    _write(trace if repeat is None else reshape.repeated(trace, repeat), out)


def _lists(source: Path, unit: float, deadlines: Sequence[str]) -> Trace:
    given = {name: value / 1e3 for name, value in named_numbers(deadlines, "--deadline-ms").items()}
    return read_lists(source, unit, given.pop("", None), given)


def _counts(
    source: Path,
    applications: Sequence[str],
    alpha: float | None,
    deadlines: Sequence[str],
    repository: Path | None,
    cv: float,
    rng: rates.Generator,
) -> Trace:
    counts = convert.parse_counts(read_text(source), str(source))
    total = counts.get(convert.TOTAL) if len(counts) == 1 else None
    named = applications if total is not None else [f"{name}=1" for name in counts]
    demand: Demand = read_demand(named, alpha, deadlines, repository)
    each = counts if total is None else convert.shared(total, demand.weights, rng)
    return arrivals.fill(each, demand.deadlines, cv, rng)


def _span(text: str) -> tuple[float, float]:
    try:
        start, end = map(float, text.split(":"))
    except ValueError:
        raise InputError(f"--cut takes START:END in seconds, not {text!r}") from None
    return start, end


def _write(trace: Trace, out: Path) -> None:
    if not len(trace):
        raise TraceError("no arrival would be left in the trace; ask for more")
    try:
        write_trace(trace, out)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror or error}") from error
    for note in trace.notes:
        click.echo(f"note: {note}", err=True)
    all_ = statistics(trace)
    click.echo(
        f"{out}: {len(trace):,} arrivals in {trace.duration:.1f} s for {', '.join(trace.names)};"
        f" mean {all_.mean_rate:.1f}, peak {all_.peak_rate:.0f} queries/s"
    )


@command.command()
@click.argument("trace_file", metavar="TRACE", type=FILE)
@click.option("--png", type=FILE, help="Draw it into this file as well.")
@json_option
def show(trace_file: Path, png: Path | None, as_json: bool) -> None:
    """Draw a trace in the terminal, with its figures.

    Dispersion is the variance over the mean of the arrivals in 0.1-s windows within each second: 1 for Poisson.
    """
    if png is not None:
        require_suffix(png, PICTURE, "--png")
    trace = read_trace(trace_file)
    if png is not None:
        save_png(trace, png, trace_file.name)
    if as_json:
        click.echo(json.dumps(_values(trace), indent=1))
        return
    console = Console()
    console.print(picture(trace, console.width))
    for note in trace.notes:
        click.echo(f"note: {note}", err=True)


def _values(trace: Trace) -> dict[str, object]:
    each = {name: _figures(statistics(trace, name)) for name in trace.names}
    return {**_figures(statistics(trace)), "per_application": each, "notes": list(trace.notes)}


def _figures(one: Statistics) -> dict[str, object]:
    values = asdict(one)
    return {
        "arrivals": values["arrivals"],
        "duration_s": values["duration"],
        "mean_qps": values["mean_rate"],
        "peak_qps": values["peak_rate"],
        "dispersion": values["dispersion"],
    }
