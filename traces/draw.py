"""A trace as a picture: blocks for a terminal, a plot as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Group
from rich.table import Table
from rich.text import Text

from tidewise.core.trace import Trace
from tidewise.traces.statistics import Statistics, per_second, statistics

BLOCKS = " ▁▂▃▄▅▆▇█"
COLOURS = ("cyan", "magenta", "yellow", "green", "blue", "red")
HEIGHT = 8

Values = NDArray[np.float64]


def columns(counts: NDArray[np.int64], width: int) -> Values:
    """Mean queries per second in each of at most ``width`` equal parts of the trace."""
    parts = np.array_split(counts.astype(np.float64), min(width, len(counts)))
    return np.array([part.mean() for part in parts])


def bars(values: Values, height: int, top: float) -> list[str]:
    """Lines of block characters, the highest first; a column of ``top`` is ``height`` characters high."""
    eighths = np.round(values / max(top, 1e-12) * height * 8).astype(int)
    eighths[(values > 0) & (eighths == 0)] = 1  # a little is not nothing
    rows = range(height - 1, -1, -1)
    return ["".join(BLOCKS[min(8, max(0, full - row * 8))] for full in eighths.tolist()) for row in rows]


def picture(trace: Trace, width: int = 80) -> Group:
    """The trace for a terminal: total demand as bars, a line for each application, and its figures."""
    total = columns(per_second(trace), width - 9)
    lines = bars(total, HEIGHT, float(total.max()))
    marks = [f"{total.max():7.0f} ", *[" " * 8] * (HEIGHT - 2), f"{0:7d} "]
    axis = f"{'q/s':>7} 0 s{f'{trace.duration:.0f} s':>{max(1, len(total) - 3)}}"
    chart = Text("\n".join(mark + line for mark, line in zip(marks, lines, strict=True)), style="bold")
    return Group(chart, Text(axis, style="dim"), Text(), _figures(trace, width))


def _figures(trace: Trace, width: int) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("application", "arrivals", "mean q/s", "peak q/s", "dispersion", "deadline"):
        table.add_column(title, justify="left" if title == "application" else "right", no_wrap=True)
    table.add_column("over time", no_wrap=True)
    room = max(8, width - 72)
    for place, name in enumerate(trace.names):
        line = columns(per_second(trace, name), room)
        colour = COLOURS[place % len(COLOURS)]
        spark = Text(bars(line, 1, float(line.max()))[0], style=colour)
        table.add_row(Text(name, style=colour), *_cells(statistics(trace, name)), _deadlines(trace, place), spark)
    table.add_row("all", *_cells(statistics(trace)), "", "", style="bold")
    return table


def _cells(one: Statistics) -> list[str]:
    clumps = "-" if one.dispersion is None else f"{one.dispersion:.2f}"
    return [f"{one.arrivals:,}", f"{one.mean_rate:.1f}", f"{one.peak_rate:.0f}", clumps]


def _deadlines(trace: Trace, place: int) -> str:
    of = trace.deadline[trace.application == place] * 1e3
    return f"{of.min():.0f} ms" if of.min() == of.max() else f"{of.min():.0f}-{of.max():.0f} ms"


def save_png(trace: Trace, path: Path, title: str = "") -> None:
    """Draw demand over time, applications stacked, into a PNG file."""
    from matplotlib.figure import Figure  # imported late: it takes longer than drawing in a terminal

    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots()
    seconds = np.arange(len(per_second(trace)))
    stacked: Sequence[NDArray[np.int64]] = [per_second(trace, name) for name in trace.names]
    axes.stackplot(seconds, *stacked, labels=trace.names, alpha=0.85)
    axes.set(xlabel="seconds", ylabel="queries per second", title=title, xlim=(0, max(1, len(seconds) - 1)))
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)
