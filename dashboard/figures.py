"""The figures of a report: panels put together on one time axis."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tidewise.core.run import Run
from tidewise.dashboard import keys, panels
from tidewise.dashboard.hosting import MOST_ROWS, hosting
from tidewise.dashboard.numbers import percent
from tidewise.dashboard.palette import VIOLATIONS, Palette
from tidewise.dashboard.series import Columns, Series, series
from tidewise.dashboard.verdict import Note

WIDTH = 10.0  # inches
MOST_NAMED = 5  # applications labelled on one panel
DEMAND = "Demand, and which variants answered it on time"
FONTS = ("Inter", "Helvetica Neue", "Helvetica", "Arial", "Liberation Sans", "DejaVu Sans")


def style() -> dict[str, object]:
    """Matplotlib settings of every figure: the first font of our list that this machine has, text kept as text."""
    there = {one.name for one in font_manager.fontManager.ttflist}
    family = next((name for name in FONTS if name in there), "sans-serif")
    return {"font.family": family, "svg.fonttype": "none", "axes.unicode_minus": False, "font.size": 8}


def overview(run: Run, of: Columns, palette: Palette) -> Figure:
    """The whole run: demand, accuracy, violations, variants and latency on one time axis."""
    together = series(of)
    each = {name: series(of, name) for name in run.applications}
    with mpl.rc_context(style()):  # type: ignore[arg-type]
        figure = Figure(figsize=(WIDTH, 8.6))
        rows = figure.subplots(4, 1, sharex=True, gridspec_kw={"height_ratios": [1.9, 1.25, 0.8, 0.9]})
        groups = _overview_key(run, palette)
        under = 0.32 + keys.height(groups, WIDTH)
        figure.subplots_adjust(left=0.05, right=0.875, top=0.965, bottom=under / figure.get_figheight(), hspace=0.4)
        _demand(rows[0], palette, together)
        _accuracy(rows[1], palette, run, together, each)
        _violations(rows[2], palette, together)
        _pressure(rows[3], palette, together)
        share_time(list(rows), palette, run)
        keys.draw(figure, palette, groups)
    return figure


def by_application(run: Run, of: Columns, palette: Palette, names: list[str]) -> Figure:
    """Small multiples: a column an application, the same rows in each."""
    with mpl.rc_context(style()):  # type: ignore[arg-type]
        figure = Figure(figsize=(WIDTH, 7.4))
        grid = figure.subplots(4, len(names), sharex=True, squeeze=False)
        groups = _application_key(run, palette, names)
        under = 0.32 + keys.height(groups, WIDTH)
        bottom = under / figure.get_figheight()
        figure.subplots_adjust(left=0.05, right=0.985, top=0.955, bottom=bottom, hspace=0.42, wspace=0.13)
        for column, name in enumerate(names):
            _application(list(grid[:, column]), run, series(of, name), palette, name)
        same_scale(list(grid[1]))
        same_scale(list(grid[2]))
        keys.draw(figure, palette, groups)
    return figure


def workers(run: Run, palette: Palette) -> Figure:
    """What each worker hosted."""
    rows = min(MOST_ROWS, len({one.worker for one in run.workers}))
    groups = [*keys.variants(palette, run.applications), *_plan_key(run, palette)]
    under = 0.22 + keys.height(groups, WIDTH)
    height = 0.33 + under + 0.26 * rows
    with mpl.rc_context(style()):  # type: ignore[arg-type]
        figure = Figure(figsize=(WIDTH, height))
        axes = figure.subplots()
        hosting(axes, palette, run)
        share_time([axes], palette, run, named=False)
        figure.subplots_adjust(left=0.09, right=0.985, top=1 - 0.3 / height, bottom=under / height)
        keys.draw(figure, palette, groups)
    return figure


def add_heading(figure: Figure, palette: Palette, kind: str, note: Note) -> None:
    """Make room above a figure for what was run and the sentence that tells the outcome."""
    start, _, rest = note.text.partition(": ")
    lines = textwrap.wrap(rest[:1].upper() + rest[1:], round(11.5 * figure.get_figwidth()))
    height = figure.get_figheight()
    grown = height + 0.75 + 0.17 * len(lines)
    pars = figure.subplotpars
    figure.set_figheight(grown)
    figure.subplots_adjust(bottom=pars.bottom * height / grown, top=pars.top * height / grown)
    left = pars.left
    with mpl.rc_context(style()):  # type: ignore[arg-type]
        figure.text(left, 1 - 0.2 / grown, kind, fontsize=7, color=palette["muted"], va="center")
        figure.text(
            left, 1 - 0.42 / grown, start, fontsize=13, fontweight="bold", color=palette[note.level], va="center"
        )
        below = "\n".join(lines)
        figure.text(left, 1 - 0.58 / grown, below, fontsize=9, color=palette["ink"], va="top", linespacing=1.35)


def cheapest_accuracy(run: Run, application: str | None = None) -> float:
    """Normalised accuracy if every query had been answered by its application's cheapest variant."""
    names = [one.application for one in run.records if application in (None, one.application)]
    floors = {
        name: min(one.variants.values(), default=one.best_accuracy) / one.best_accuracy
        for name, one in run.applications.items()
    }
    return sum(floors[name] for name in names) / len(names) if names else 1.0


def _overview_key(run: Run, palette: Palette) -> list[keys.Group]:
    """What is not named at the lines' ends already."""
    lines = [keys.accuracies(palette, run.applications)] if len(run.applications) > MOST_NAMED else []
    return [*keys.variants(palette, run.applications), *lines, *_plan_key(run, palette)]


def _application_key(run: Run, palette: Palette, names: list[str]) -> list[keys.Group]:
    shown = {name: run.applications[name] for name in names}
    lines = keys.accuracies(palette, ()), keys.latencies(palette)
    return [*keys.variants(palette, shown), keys.losses(palette), *lines, *_plan_key(run, palette)]


def _plan_key(run: Run, palette: Palette) -> Iterator[keys.Group]:
    if any(0 < one.at < run.seconds for one in run.plans):
        yield from keys.plans(palette, panels.unusual(run.plans, run.seconds))


def _demand(axes: Axes, palette: Palette, of: Series) -> None:
    panels.frame(axes, palette, DEMAND, "queries a second")
    panels.demand(axes, palette, of)
    end = float(of.arrivals[-1])
    labels = [("arrived", end, palette["ink"]), ("not on time", end, palette["missed"])]
    panels.end_labels(axes, [*labels, ("on time, by variant", 0.5 * end, palette["muted"])])


def _accuracy(axes: Axes, palette: Palette, run: Run, of: Series, each: dict[str, Series]) -> None:
    floor = cheapest_accuracy(run)
    lines = each if len(each) > 1 else {}
    panels.frame(axes, palette, "Effective accuracy", "of the best possible, over answers on time")
    panels.accuracy(axes, palette, of, lines, floor)
    bottom = axes.get_ylim()[0]
    named = "always the cheapest" if floor > bottom else f"cheapest: {percent(floor)} ↓"
    labels = [("all", panels.last(of.accuracy), palette["ink"]), (named, max(floor, bottom), palette["muted"])]
    if len(lines) <= MOST_NAMED:
        labels += [(name, panels.last(one.accuracy), palette.application(name)) for name, one in lines.items()]
    panels.end_labels(axes, labels)


def _violations(axes: Axes, palette: Palette, of: Series) -> None:
    panels.frame(axes, palette, "Not answered on time", "share of arrivals")
    panels.violations(axes, palette, of)
    arrivals = max(1e-9, float(of.arrivals.sum()))
    top = axes.get_ylim()[1]
    shares = [(kind, float(of.outcomes[kind].sum()) / arrivals) for kind in reversed(VIOLATIONS)]
    labels = [(f"{kind} {percent(share)}", 0.95 * top, palette[kind]) for kind, share in shares]
    panels.end_labels(axes, labels)


def _pressure(axes: Axes, palette: Palette, of: Series) -> None:
    panels.frame(axes, palette, "Latency", "share of the deadline")
    panels.latency(axes, palette, of.middle, 100 * of.pressure_p50, 100 * of.pressure_p99, 100.0)
    axes.yaxis.set_major_formatter(lambda value, _position: f"{value:.0f} %")
    labels = [
        ("deadline", 100.0, palette["bad"]),
        ("p99", 100 * panels.last(of.pressure_p99), palette["muted"]),
        ("p50", 100 * panels.last(of.pressure_p50), palette["ink"]),
    ]
    panels.end_labels(axes, labels)


def _application(rows: list[Axes], run: Run, of: Series, palette: Palette, name: str) -> None:
    slo = run.applications[name].slo
    panels.frame(rows[0], palette, name, "queries a second, by variant")
    panels.demand(rows[0], palette, of)
    panels.frame(rows[1], palette, "Effective accuracy", "of the best possible")
    panels.accuracy(rows[1], palette, of, {}, cheapest_accuracy(run, name))
    panels.frame(rows[2], palette, "Not answered on time", "share of arrivals")
    panels.violations(rows[2], palette, of)
    panels.frame(rows[3], palette, "Latency, p50 and p99", f"ms; SLO {1e3 * slo:.0f}")
    panels.latency(rows[3], palette, of.middle, 1e3 * of.p50, 1e3 * of.p99, 1e3 * slo)
    share_time(rows, palette, run)


def same_scale(row: list[Axes]) -> None:
    """Give these axes the same vertical extent."""
    limits = [axes.get_ylim() for axes in row]
    for axes in row:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def share_time(rows: list[Axes], palette: Palette, run: Run, named: bool = True, until: float | None = None) -> None:
    """Put these panels, top to bottom, on the run's time axis, or a longer one, and mark the run's plans."""
    for number, axes in enumerate(rows):
        axes.set_xlim(0, until or run.seconds)
        panels.plan_marks(axes, palette, run.plans, run.seconds, named and number == 0)
    rows[-1].xaxis.set_major_formatter(lambda value, _position: f"{value:g} s")
