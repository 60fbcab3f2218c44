"""Runs side by side on shared axes: what each policy made of the same demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tidewise.core.errors import InputError
from tidewise.core.run import Run, RunApplication
from tidewise.core.scorecard import Scorecard
from tidewise.dashboard import figures, keys, panels
from tidewise.dashboard.card import Card, card_of
from tidewise.dashboard.markup import Cell, document, figure, heading, note_list, section, table
from tidewise.dashboard.numbers import count, milliseconds, percent
from tidewise.dashboard.page import footer
from tidewise.dashboard.palette import Palette
from tidewise.dashboard.picture import png, svg
from tidewise.dashboard.series import columns, series
from tidewise.dashboard.verdict import HELD, MOSTLY, Level, Note, notes, title

COLUMN = 4.3  # inches
ROWS = (
    ("Demand, by answering variant", "queries a second"),
    ("Effective accuracy", "of the best possible"),
    ("Not answered on time", "share of arrivals"),
)

Choice = Callable[[Iterable[float]], float]  # max or min


@dataclass(frozen=True, slots=True)
class Entry:
    """One run of a comparison."""

    name: str
    run: Run
    card: Card


def entries(runs: Sequence[Run]) -> list[Entry]:
    """The runs with names that tell them apart. Raises InputError if two of them have nothing in common."""
    for one in runs[1:]:
        if not runs[0].applications.keys() & one.applications.keys():
            names = (", ".join(sorted(run.applications)) or "nothing" for run in (runs[0], one))
            raise InputError(
                "these runs have no application in common, so they cannot be compared: {} and {}".format(*names)
            )
    titles = Counter(map(title, runs))
    policies = Counter(run.policy for run in runs)
    return [Entry(_name(run, titles, policies, number), run, card_of(run)) for number, run in enumerate(runs, 1)]


def comparison_page(runs: Sequence[Run]) -> str:
    """The comparison as one HTML text that needs nothing else."""
    palette = Palette(_all_applications(runs))
    found = entries(runs)
    return document("Tidewise: runs compared", palette, _parts(found, palette), look="wide")


def comparison_png(runs: Sequence[Run]) -> bytes:
    """The comparison as one picture."""
    palette = Palette(_all_applications(runs))
    found = entries(runs)
    drawn = comparison_figure(found, palette)
    figures.add_heading(drawn, palette, _kind(found), comparison_headline(found))
    return png(drawn, palette)


def comparison_headline(found: Sequence[Entry]) -> Note:
    """Which run did best by on-time accuracy per arrival, against the others."""
    ranked = sorted(found, key=lambda one: -one.card.whole.on_time_accuracy_per_arrival)
    figures = [percent(one.card.whole.on_time_accuracy_per_arrival) for one in ranked]
    others = " and ".join(
        f"{value} for {_inside(one.name)}" for one, value in zip(ranked[1:], figures[1:], strict=True)
    )
    missed = ranked[0].card.whole.violation_ratio
    told = f"{figures[0]}, against {others}; it missed {percent(missed)} of the deadlines."
    if _unlike(found):
        return Note(Level.BAD, f"Not the same demand, so only a rough comparison: {ranked[0].name} gave {told}")
    level = Level.GOOD if missed <= HELD else Level.FAIR if missed <= MOSTLY else Level.BAD
    return Note(level, f"{ranked[0].name} gave the most on-time accuracy per arrival: {told}")


def comparison_figure(found: Sequence[Entry], palette: Palette) -> Figure:
    """A column a run; demand by variant, accuracy and violations on axes shared along each row."""
    width = max(8.0, COLUMN * len(found))
    with mpl.rc_context(figures.style()):  # type: ignore[arg-type]
        drawn = Figure(figsize=(width, 6.3))
        grid = drawn.subplots(3, len(found), sharex=True, squeeze=False, height_ratios=[1.5, 1.0, 0.8])
        groups, until = _key(found, palette), max(one.run.seconds for one in found)
        bottom = (0.32 + keys.height(groups, width)) / drawn.get_figheight()
        drawn.subplots_adjust(
            left=0.42 / width, right=1 - 0.15 / width, top=0.9, bottom=bottom, hspace=0.36, wspace=0.09
        )
        for column, one in enumerate(found):
            _column(list(grid[:, column]), one, palette, until, first=column == 0)
        for row in grid:
            figures.same_scale(list(row))
        keys.draw(drawn, palette, groups)
    return drawn


def _key(found: Sequence[Entry], palette: Palette) -> list[keys.Group]:
    known = _all_applications([one.run for one in found])
    causes = set().union(*(panels.unusual(one.run.plans, one.run.seconds) for one in found))
    lines = keys.accuracies(palette, known if len(known) > 1 else ())
    return [*keys.variants(palette, known), keys.losses(palette), lines, *keys.plans(palette, causes)]


def _column(rows: list[Axes], one: Entry, palette: Palette, until: float, first: bool) -> None:
    whole = series(columns(one.run))
    each = {name: series(columns(one.run), name) for name in one.run.applications}
    for axes, (words, unit) in zip(rows, ROWS, strict=True):
        panels.frame(axes, palette, words if first else "", unit if first else "")
        axes.tick_params(labelleft=first)
    panels.demand(rows[0], palette, whole)
    panels.accuracy(rows[1], palette, whole, each if len(each) > 1 else {}, figures.cheapest_accuracy(one.run))
    panels.violations(rows[2], palette, whole)
    figures.share_time(rows, palette, one.run, named=False, until=until)
    if one.run.seconds < until:
        panels.ended(rows[0], palette, one.run.seconds)
    _column_head(rows[0], palette, one)


def _column_head(axes: Axes, palette: Palette, one: Entry) -> None:
    card = one.card.whole
    facts = (
        f"{percent(card.on_time_accuracy_per_arrival)} on-time accuracy per arrival",
        f"{percent(card.violation_ratio)} missed",
        f"{percent(card.effective_accuracy)} accuracy",
    )
    panels.above(axes, one.name, 36, 11, palette["ink"], "bold")
    panels.above(axes, ", ".join(facts), 23, 7.2, palette["muted"])


def _parts(found: Sequence[Entry], palette: Palette) -> Iterator[str]:
    yield heading(_kind(found), comparison_headline(found))
    yield figure(svg(comparison_figure(found, palette), palette, "comparison"), "The runs side by side over time")
    yield section("Headline figures", "The best of each row is bold; on-time accuracy per arrival is what counts.")
    yield headline_table(found)
    yield note_list(differences(found))
    for one in found:
        yield section(one.name)
        yield note_list(notes(one.run, one.card)) or '<p class="under">Nothing to remark.</p>'
    yield footer([one.run for one in found])


def headline_table(found: Sequence[Entry]) -> str:
    """One row a figure, one column a run."""
    heads = ["", *(one.name for one in found)]
    cards = [one.card.whole for one in found]
    worst = [one.card.applications[one.card.worst] if one.card.worst else one.card.whole for one in found]
    rows = [
        _row("on-time accuracy per arrival", [one.on_time_accuracy_per_arrival for one in cards], max),
        _row("violation ratio", [one.violation_ratio for one in cards], min),
        _row("effective accuracy", [one.effective_accuracy for one in cards], max),
        _row("accuracy drop, worst ten seconds", [one.accuracy_drop for one in cards], min),
        _row("worst application: on-time accuracy", [one.on_time_accuracy_per_arrival for one in worst], max),
        _row("worst application: violation ratio", [one.violation_ratio for one in worst], min),
        ([Cell("latency p50 / p99"), *(Cell(_latency(one)) for one in cards)], ""),
        ([Cell("arrivals"), *(Cell(count(one.arrivals)) for one in cards)], ""),
        ([Cell("plans"), *(Cell(count(len(one.run.plans))) for one in found)], ""),
    ]
    return table(heads, rows)


def _row(name: str, values: Sequence[float | None], choose: Choice) -> tuple[list[Cell], str]:
    known = [one for one in values if one is not None]
    best = choose(known) if known else None
    return [Cell(name), *(Cell(percent(one), "best" if known and one == best else "") for one in values)], ""


def _latency(card: Scorecard) -> str:
    return f"{milliseconds(card.latency_p50)} / {milliseconds(card.latency_p99)}"


def _unlike(found: Sequence[Entry]) -> bool:
    """Whether the runs did not replay the same demand."""
    return len({(one.run.trace, one.run.seconds, one.run.arrivals) for one in found}) > 1


def differences(found: Sequence[Entry]) -> Iterator[Note]:
    """What keeps these runs from being compared as they stand."""
    if _unlike(found):
        each = "; ".join(
            f"{one.name} {count(one.run.arrivals)} arrivals in {one.run.seconds:.4g} s"
            + (f" of {one.run.trace}" if one.run.trace else "")
            for one in found
        )
        yield Note(Level.BAD, f"These runs did not replay the same demand, so they compare only roughly: {each}.")
    if len({frozenset(one.run.applications) for one in found}) > 1:
        yield Note(Level.BAD, "These runs had different applications.")
    if len({tuple(sorted(one.run.device_types.items())) for one in found if one.run.device_types}) > 1:
        yield Note(Level.BAD, "These runs had different devices.")


def _kind(found: Sequence[Entry]) -> str:
    traces = dict.fromkeys(one.run.trace for one in found if one.run.trace)
    seconds = dict.fromkeys(f"{one.run.seconds:.0f}" for one in found)
    return " · ".join(("Runs compared", *traces, f"{' and '.join(seconds)} s"))


def _name(run: Run, titles: Counter[str], policies: Counter[str], number: int) -> str:
    """Its title; with its policy where that tells it apart, else with its own name, else with its place."""
    words = title(run)
    if titles[words] == 1:
        return words
    if policies[run.policy] == 1:
        return f"{words} ({run.policy})"
    return f"{words} ({run.name if run.name and run.name not in (run.policy, words) else number})"


def _inside(name: str) -> str:
    """A run's name inside a sentence."""
    return name.replace("Always", "always")


def _all_applications(runs: Sequence[Run]) -> dict[str, RunApplication]:
    return {name: one for run in reversed(runs) for name, one in run.applications.items()}
