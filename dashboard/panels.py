"""The plots of a report, one function each: it draws one panel into the axes it is given."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from tidewise.core.run import PlanChange, RunApplication
from tidewise.dashboard.palette import VIOLATIONS, Palette
from tidewise.dashboard.series import Floats, Key, Series

SMALL = 6.6
ROUTINE = ("period", "start", "")  # causes of plans not worth a label
LINE_INCHES = 0.135  # from one small line of text to the next
MOST_IN_KEY = 16  # variants; beyond, a key names applications only
LABEL_ROOM = 0.06  # of the time axis, between two labels


def frame(axes: Axes, palette: Palette, title: str, unit: str = "") -> None:
    """A quiet frame: title at the left above, faint horizontal lines, no box."""
    axes.set_title(title, loc="left", fontsize=8, fontweight="bold", color=palette["ink"], y=1.0, pad=7)
    axes.set_title(unit, loc="right", fontsize=SMALL, color=palette["muted"], y=1.0, pad=7)
    axes.set_facecolor("none")
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(palette["mark"])
    axes.grid(axis="y", color=palette["line"], linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=SMALL, colors=palette["muted"])
    axes.locator_params(axis="y", nbins=4)


LEAST_DIP = 0.002  # of accuracy, so that noise never looks like a dip
FAR_BELOW = 4.0  # times the deepest dip: a floor farther down than that is out of the picture


def accuracy(axes: Axes, palette: Palette, of: Series, lines: Mapping[str, Series], cheapest: float) -> None:
    """Effective accuracy, normalised: all together in ink, each application in its hue, the cheapest as the floor."""
    axes.axhline(1.0, color=palette["mark"], linewidth=0.8)
    axes.axhline(cheapest, color=palette["mark"], linewidth=0.8, linestyle=(0, (4, 3)))
    for name, one in lines.items():
        axes.plot(one.middle, one.accuracy, color=palette.application(name), linewidth=0.9)
    axes.plot(of.middle, of.accuracy, color=palette["ink"], linewidth=1.6)
    served = float(np.nanmin([_lowest(of), *map(_lowest, lines.values())]))
    shown = max(1 - served, LEAST_DIP)
    if 1 - cheapest < FAR_BELOW * shown:  # else the floor would press the dips flat: it is named at the edge instead
        shown = max(shown, 1 - cheapest)
    axes.set_ylim(1 - 1.2 * shown, 1 + 0.12 * shown)
    axes.yaxis.set_major_formatter(_percent)


def violations(axes: Axes, palette: Palette, of: Series) -> None:
    """Share of arrivals not answered on time, stacked by kind."""
    shares = [of.ratio(kind) for kind in VIOLATIONS]
    axes.stackplot(of.middle, shares, colors=[palette[kind] for kind in VIOLATIONS], linewidth=0)
    axes.set_ylim(0, min(1.0, max(0.05, 1.12 * float(np.sum(shares, axis=0).max()))))
    axes.yaxis.set_major_formatter(_percent)


def demand(axes: Axes, palette: Palette, of: Series) -> None:
    """Arrivals a second: above the answers on time by variant, accurate ones below cheap ones, stand the violations."""
    axes.set_ylim(0, _top(of.arrivals))
    keys = [key for key, values in of.variants.items() if values.any()]
    bands = [of.variants[key] for key in keys]
    total = np.sum(bands, axis=0) if bands else np.zeros_like(of.arrivals)
    if bands:
        axes.stackplot(of.middle, bands, colors=[palette.variant(*key) for key in keys], linewidth=0)
        _label_bands(axes, palette, of, keys, bands)
    axes.fill_between(of.middle, total, of.arrivals, color=palette["missed"], linewidth=0)
    axes.plot(of.middle, of.arrivals, color=palette["ink"], linewidth=0.9)


def latency(axes: Axes, palette: Palette, middle: Floats, p50: Floats, p99: Floats, limit: float) -> None:
    """Median and 99th percentile of the answers against their deadline."""
    axes.axhline(limit, color=palette["bad"], linewidth=0.9, linestyle=(0, (4, 3)))
    axes.fill_between(middle, p50, p99, color=palette["served"], linewidth=0)
    axes.plot(middle, p99, color=palette["muted"], linewidth=0.9)
    axes.plot(middle, p50, color=palette["ink"], linewidth=1.2)
    highest = float(np.nanmax(p99)) if np.isfinite(p99).any() else 0.0
    axes.set_ylim(0, 1.15 * max(limit, highest))


def plan_marks(axes: Axes, palette: Palette, plans: Iterable[PlanChange], seconds: float, named: bool) -> None:
    """A hair line at each change of plan; its cause is named where it was not routine and there is room."""
    labelled = -seconds
    for change in plans:
        if not 0 < change.at < seconds:
            continue
        routine = cause(change) in ROUTINE
        colour = palette["mark"] if routine else palette["fair"]
        axes.axvline(change.at, color=colour, linewidth=0.6, linestyle=(0, (1, 2)) if routine else "-", zorder=0.6)
        if named and not routine and change.at - labelled > LABEL_ROOM * seconds:
            _mark_label(axes, cause(change), change.at, colour)
            labelled = change.at


def cause(change: PlanChange) -> str:
    """The kind of a plan's trigger, without its detail."""
    return change.plan.trigger.partition(":")[0]


def _mark_label(axes: Axes, text: str, at: float, colour: str) -> None:
    axes.annotate(
        text,
        (at, 1),
        xycoords=("data", "axes fraction"),
        xytext=(2, -1),
        textcoords="offset points",
        fontsize=SMALL,
        color=colour,
        va="top",
    )


def end_labels(axes: Axes, at: float, labels: Iterable[tuple[str, float, str]]) -> None:
    """Direct labels (text, value, colour) right of the lines' ends at ``at``, moved apart where they would touch."""
    low, high = axes.get_ylim()
    room = LINE_INCHES * (high - low) / _height(axes)
    place = float("inf")
    for text, value, colour in sorted((one for one in labels if np.isfinite(one[1])), key=lambda one: -one[1]):
        place = min(value, place - room)
        axes.annotate(
            text,
            (at, place),
            xytext=(5, 0),
            textcoords="offset points",
            fontsize=SMALL,
            color=colour,
            va="center",
            annotation_clip=False,
        )


def _width(axes: Axes) -> float:
    """Inches from left to right."""
    return float(axes.get_position().width * axes.figure.get_figwidth())  # type: ignore[union-attr]


def _height(axes: Axes) -> float:
    """Inches from bottom to top."""
    return float(axes.get_position().height * axes.figure.get_figheight())  # type: ignore[union-attr]


def above(axes: Axes, text: str, lift: float, size: float, colour: str, weight: str = "normal") -> None:
    """A line of text ``lift`` points above the panel's left corner."""
    axes.annotate(
        text,
        (0, 1),
        xycoords="axes fraction",
        xytext=(0, lift),
        textcoords="offset points",
        fontsize=size,
        fontweight=weight,
        color=colour,
    )


def key(figure: Figure, palette: Palette, groups: Mapping[str, Mapping[str, str]], bottom: float) -> None:
    """One line under a figure: groups of names and their colours."""
    at = figure.subplotpars.left
    width = figure.get_figwidth()
    for title, colours in groups.items():
        figure.text(at, bottom, title, fontsize=SMALL, color=palette["ink"], va="bottom")
        at += _text_room(title) / width
        for name, colour in colours.items():
            box = Rectangle((at, bottom), 0.11 / width, 0.011, transform=figure.transFigure, color=colour, linewidth=0)
            figure.add_artist(box)
            figure.text(at + 0.16 / width, bottom, name, fontsize=SMALL, color=palette["muted"], va="bottom")
            at += (0.16 + _text_room(name)) / width
        at += 0.12 / width


def variant_key(palette: Palette, applications: Mapping[str, RunApplication]) -> dict[str, dict[str, str]]:
    """Each application's variants and their colours, accurate first; the applications' alone if many."""
    if sum(len(one.variants) for one in applications.values()) > MOST_IN_KEY:
        return {"dark is accurate, light is cheap": {name: palette.application(name) for name in applications}}
    return {
        f"{name}, accurate to cheap": {variant: palette.variant(name, variant) for variant in one.variants}
        for name, one in applications.items()
    }


def _text_room(text: str) -> float:
    """Inches a small text needs, about, and some space after it."""
    return 0.05 * len(text) + 0.16


def last(values: Floats) -> float:
    """The last value that is one; NaN of none."""
    there = values[np.isfinite(values)]
    return float(there[-1]) if len(there) else float("nan")


def _label_bands(axes: Axes, palette: Palette, of: Series, keys: list[Key], bands: list[Floats]) -> None:
    """Each band's name inside it where it is thickest, if it is thick enough there."""
    top = axes.get_ylim()[1]
    base = np.zeros_like(of.middle)
    for key, band in zip(keys, bands, strict=True):
        thick = _narrowest(band, math.ceil(len(band) * 0.035 * (len(key[1]) + 1) / _width(axes)))
        place = int(np.argmax(thick))
        if thick[place] > 0.07 * top:
            colour = palette.on(*key)
            middle = float(base[place] + band[place] / 2)
            axes.text(float(of.middle[place]), middle, key[1], ha="center", va="center", fontsize=SMALL, color=colour)
        base = base + band


def _narrowest(band: Floats, reach: int) -> Floats:
    """The thinnest value within ``reach`` bins of each bin; 0 near the ends."""
    padded = np.concatenate([np.zeros(reach), band, np.zeros(reach)])
    thinnest: Floats = np.min([padded[shift : shift + len(band)] for shift in range(2 * reach + 1)], axis=0)
    return thinnest


def _lowest(of: Series) -> float:
    return float(np.nanmin(of.accuracy)) if np.isfinite(of.accuracy).any() else 1.0


def _top(values: Floats) -> float:
    return max(1.0, 1.12 * float(values.max(initial=0.0)))


def _percent(value: float, _position: float) -> str:
    return f"{100 * value:.3g} %"
