"""The key under a figure: every colour and every line that is drawn there, and what it means."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from tidewise.core.run import RunApplication
from tidewise.dashboard.palette import VIOLATIONS, Palette
from tidewise.dashboard.panels import AT_ONCE, CHEAPEST, LIMIT, PERIODIC, SMALL, SOLID, Dashes

MOST_IN_KEY = 16  # variants; beyond, a key names applications only
ROW_INCHES = 0.19
SAMPLE_INCHES = 0.11, 0.24  # of a colour, of a line
LEFT_INCHES = 0.5  # where rows begin, and how much room is left at their end


@dataclass(frozen=True, slots=True)
class Sample:
    """One colour or line of a figure: an area where it has no ``width``."""

    name: str
    colour: str
    width: float | None = None
    dashes: Dashes = SOLID

    @property
    def room(self) -> float:
        """Inches it takes, about."""
        return 0.05 + SAMPLE_INCHES[self.width is not None] + _text_room(self.name)


@dataclass(frozen=True, slots=True)
class Group:
    """Samples that belong together, and what they have in common."""

    title: str
    samples: tuple[Sample, ...]

    @property
    def room(self) -> float:
        """Inches it takes, about."""
        return _text_room(self.title) + sum(one.room for one in self.samples) + 0.12


def height(groups: Sequence[Group], width: float) -> float:
    """Inches that the key of a figure so wide takes, with some room above."""
    return 0.08 + ROW_INCHES * len(_rows(groups, width))


def draw(figure: Figure, palette: Palette, groups: Sequence[Group]) -> None:
    """Write the key along the figure's lower edge, as many rows as it takes."""
    width, tall = figure.get_figwidth(), figure.get_figheight()
    rows = _rows(groups, width)
    for number, row in enumerate(rows):
        bottom = (0.08 + ROW_INCHES * (len(rows) - 1 - number)) / tall
        at = LEFT_INCHES
        for group in row:
            _text(figure, at, bottom, group.title, palette["ink"])
            at += _text_room(group.title)
            for one in group.samples:
                _draw_sample(figure, palette, one, at, bottom)
                at += one.room
            at += 0.12


def variants(palette: Palette, applications: Mapping[str, RunApplication]) -> Iterator[Group]:
    """Each application's variants and their colours, accurate first; the applications' alone if many."""
    if sum(len(one.variants) for one in applications.values()) > MOST_IN_KEY:
        names = tuple(Sample(name, palette.application(name)) for name in applications)
        yield Group("dark is accurate, light is cheap", names)
        return
    for name, one in applications.items():
        yield Group(
            f"{name}, accurate to cheap",
            tuple(Sample(variant, palette.variant(name, variant)) for variant in one.variants),
        )


def losses(palette: Palette) -> Group:
    """What was not answered on time: any way, and each way."""
    kinds = (Sample(kind.value, palette[kind]) for kind in VIOLATIONS)
    return Group("not on time", (Sample("any", palette["missed"]), *kinds))


def accuracies(palette: Palette, applications: Iterable[str]) -> Group:
    """The lines of the accuracy panel."""
    each = (Sample(name, palette.application(name), 0.9) for name in applications)
    cheapest = Sample("always the cheapest", palette["mark"], 0.8, CHEAPEST)
    return Group("accuracy", (Sample("all", palette["ink"], 1.6), *each, cheapest))


def latencies(palette: Palette) -> Group:
    """The lines of the latency panel."""
    lines = Sample("p50", palette["ink"], 1.2), Sample("p99", palette["muted"], 0.9)
    return Group("latency", (*lines, Sample("SLO", palette["bad"], 0.9, LIMIT)))


def plans(palette: Palette, causes: Collection[str]) -> Iterator[Group]:
    """The upright lines, where there are any: ``causes`` are those of the plans made at once."""
    words = f"at once ({', '.join(sorted(causes))})" if causes else ""
    made = (Sample(words, palette["fair"], 0.8, AT_ONCE),) if words else ()
    yield Group("new plan", (Sample("after its period", palette["muted"], 0.8, PERIODIC), *made))


def _rows(groups: Sequence[Group], width: float) -> list[list[Group]]:
    rows: list[list[Group]] = [[]]
    left = width - 2 * LEFT_INCHES
    for group in groups:
        if rows[-1] and sum(one.room for one in rows[-1]) + group.room > left:
            rows.append([])
        rows[-1].append(group)
    return rows


def _draw_sample(figure: Figure, palette: Palette, one: Sample, at: float, bottom: float) -> None:
    width, tall = figure.get_figwidth(), figure.get_figheight()
    long, transform = SAMPLE_INCHES[one.width is not None] / width, figure.transFigure
    if one.width is None:
        box = Rectangle((at / width, bottom), long, 0.1 / tall, transform=transform, color=one.colour, linewidth=0)
        figure.add_artist(box)
    else:
        middle = bottom + 0.05 / tall
        across, up = (at / width, at / width + long), (middle, middle)
        line = Line2D(across, up, transform=transform, color=one.colour, linewidth=one.width, linestyle=one.dashes)
        figure.add_artist(line)
    _text(figure, at + 0.05 + long * width, bottom, one.name, palette["muted"])


def _text(figure: Figure, at: float, bottom: float, text: str, colour: str) -> None:
    figure.text(at / figure.get_figwidth(), bottom, text, fontsize=SMALL, color=colour, va="bottom")


def _text_room(text: str) -> float:
    """Inches a small text needs, about, and some space after it."""
    return 0.05 * len(text) + 0.16
