"""The plots of a report, one function each: it draws one panel into the axes it is given."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from matplotlib.axes import Axes

from tidewise.core.run import PlanChange
from tidewise.dashboard.palette import VIOLATIONS, Palette
from tidewise.dashboard.series import Floats, Key, Series

SMALL = 6.6
ROUTINE = ("period", "start", "")  # causes of plans not worth a label
LINE_INCHES = 0.135  # from one small line of text to the next
LETTER_INCHES = 0.052  # of small text, about
Dashes = tuple[float, tuple[float, ...]]
PERIODIC: Dashes = (0, (1, 2))
SOLID: Dashes = (0, ())
AT_ONCE = SOLID
CHEAPEST: Dashes = (0, (4, 3))
LIMIT: Dashes = (0, (4, 3))


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
    axes.axhline(cheapest, color=palette["mark"], linewidth=0.8, linestyle=CHEAPEST)
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
    axes.axhline(limit, color=palette["bad"], linewidth=0.9, linestyle=LIMIT)
    axes.fill_between(middle, p50, p99, color=palette["served"], linewidth=0)
    axes.plot(middle, p99, color=palette["muted"], linewidth=0.9)
    axes.plot(middle, p50, color=palette["ink"], linewidth=1.2)
    highest = float(np.nanmax(p99)) if np.isfinite(p99).any() else 0.0
    axes.set_ylim(0, 1.15 * max(limit, highest))


def plan_marks(axes: Axes, palette: Palette, plans: Iterable[PlanChange], seconds: float, named: bool) -> None:
    """A hair line at each change of plan; the causes of those that were not routine are named once for close ones."""
    shown = [one for one in plans if 0 < one.at < seconds]
    for change in shown:
        routine = cause(change) in ROUTINE
        colour = palette["mark"] if routine else palette["fair"]
        axes.axvline(change.at, color=colour, linewidth=0.6, linestyle=PERIODIC if routine else AT_ONCE, zorder=0.6)
    if named:
        an_inch = seconds / _width(axes)
        for text, first, last in label_groups([one for one in shown if cause(one) not in ROUTINE], an_inch):
            _mark_label(axes, text, first, last, palette["fair"], seconds)


def label_groups(changes: Iterable[PlanChange], an_inch: float) -> list[tuple[str, float, float]]:
    """Plans so close that a label right of one would cross the next share one: its text, and the first and last time.

    ``an_inch`` is how much time one inch of the axis shows.
    """
    found: list[tuple[str, float, float]] = []
    for change in changes:
        text, first, last = found[-1] if found else ("", -math.inf, -math.inf)
        if change.at >= last + _label_inches(text) * an_inch:
            found.append((cause(change), change.at, change.at))
        else:
            words = dict.fromkeys([*text.split(", "), cause(change)])
            found[-1] = ", ".join(words), first, change.at
    return found


def cause(change: PlanChange) -> str:
    """The kind of a plan's trigger, without its detail."""
    return change.plan.trigger.partition(":")[0]


def unusual(plans: Iterable[PlanChange], seconds: float) -> set[str]:
    """The causes of the plans made at once within the run, all of which ``plan_marks`` draws alike."""
    return {cause(one) for one in plans if 0 < one.at < seconds} - set(ROUTINE)


def _mark_label(axes: Axes, text: str, first: float, last: float, colour: str, seconds: float) -> None:
    """Write the label right of the last line, or left of the first where the axis ends too soon."""
    fits = last + _label_inches(text) * seconds / _width(axes) <= seconds
    axes.annotate(
        text,
        (last if fits else first, 1),
        xycoords=("data", "axes fraction"),
        xytext=(2 if fits else -2, -1),
        textcoords="offset points",
        fontsize=SMALL,
        color=colour,
        va="top",
        ha="left" if fits else "right",
    )


def _label_inches(text: str) -> float:
    return LETTER_INCHES * len(text) + 0.08


def ended(axes: Axes, palette: Palette, at: float) -> None:
    """Say on an axis shared with longer runs that this one ended here."""
    axes.annotate(
        f"ended at {at:.4g} s",
        (at, 0.5),
        xycoords=("data", "axes fraction"),
        xytext=(6, 0),
        textcoords="offset points",
        fontsize=SMALL,
        color=palette["muted"],
    )


def end_labels(axes: Axes, labels: Iterable[tuple[str, float, str]]) -> None:
    """Direct labels (text, value, colour) right of the panel beside the lines' ends, moved apart."""
    low, high = axes.get_ylim()
    room = LINE_INCHES * (high - low) / _height(axes)
    place = float("inf")
    for text, value, colour in sorted((one for one in labels if np.isfinite(one[1])), key=lambda one: -one[1]):
        place = min(value, place - room)
        axes.annotate(
            text,
            (1, place),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
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
