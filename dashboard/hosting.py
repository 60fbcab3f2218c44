"""What each worker hosted over time, as bars."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from matplotlib.axes import Axes

from tidewise.core.run import Run, WorkerSample
from tidewise.dashboard.palette import Palette
from tidewise.dashboard.panels import SMALL, frame

MOST_ROWS = 60


@dataclass(frozen=True, slots=True)
class Stay:
    """One variant on one worker, without a break."""

    worker: str
    application: str
    variant: str
    start: float
    end: float


def stays(samples: Iterable[WorkerSample], until: float) -> dict[str, list[Stay]]:
    """Every worker's stays in order; a worker that hosts nothing, or is not connected, has none."""
    found: dict[str, list[Stay]] = defaultdict(list)
    by_worker: dict[str, list[WorkerSample]] = defaultdict(list)
    for sample in samples:
        by_worker[sample.worker].append(sample)
    for worker, own in by_worker.items():
        ends = [*(one.at for one in own[1:]), until]
        for sample, end in zip(own, ends, strict=True):
            _extend(found[worker], sample, max(end, sample.at))
    return dict(found)


def _extend(stays: list[Stay], sample: WorkerSample, end: float) -> None:
    if not sample.variant or not sample.connected:
        return
    before = stays[-1] if stays else None
    here = Stay(sample.worker, sample.application, sample.variant, max(0.0, sample.at), end)
    same = before and (before.application, before.variant, before.end) == (here.application, here.variant, here.start)
    if before and same:
        stays[-1] = Stay(here.worker, here.application, here.variant, before.start, end)
    else:
        stays.append(here)


def hosting(axes: Axes, palette: Palette, run: Run) -> None:
    """One row a worker, coloured by the most accurate variant it might use."""
    rows = stays(run.workers, run.seconds)
    names = sorted(rows)[:MOST_ROWS]
    frame(axes, palette, "What each worker hosted", "the most accurate variant it might use")
    axes.grid(visible=False)
    for row, name in enumerate(names):
        for one in rows[name]:
            _bar(axes, palette, row, one, run.seconds)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)


def _bar(axes: Axes, palette: Palette, row: int, stay: Stay, seconds: float) -> None:
    colour = palette.variant(stay.application, stay.variant)
    length = stay.end - stay.start
    axes.barh(row, length, left=stay.start, height=0.66, color=colour, edgecolor=palette["page"], linewidth=0.8)
    text = f"{stay.application} {stay.variant}"
    if length < 0.0105 * len(text) * seconds:
        text = stay.variant
    if length >= 0.0105 * len(text) * seconds:
        middle = stay.start + length / 2
        axes.text(
            middle,
            row,
            text,
            ha="center",
            va="center",
            fontsize=SMALL,
            color=palette.on(stay.application, stay.variant),
        )
