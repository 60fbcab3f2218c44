"""A live frame as a screen of text, or as one plain line. Pure: the same frame gives the same text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tidewise.core.live import LiveApplication, LiveFrame
from tidewise.core.outcome import Outcome
from tidewise.core.scorecard import violation_ratio
from tidewise.dashboard.health import health
from tidewise.dashboard.numbers import NOTHING, count, milliseconds, percent, rate
from tidewise.dashboard.terminal_workers import hosted, workers_table
from tidewise.dashboard.verdict import HELD, MOSTLY, Level

SPARKS = "▁▂▃▄▅▆▇█"
SPARK_WIDTH = 24
LEVELS = ("green", "yellow", "red")
LEVEL_STYLES = {Level.GOOD: "bold green", Level.FAIR: "bold yellow", Level.BAD: "bold red"}


def screen(frame: LiveFrame) -> RenderableType:
    """The whole view of one moment."""
    alone = frame.total is None  # no replay, of which much else is to be told
    parts: list[RenderableType] = [_head(frame), *([_health(frame)] if alone else []), _plan(frame), Text()]
    parts += [_applications(frame), Text(), workers_table(frame.workers)]
    parts += [Text(), _routers(frame)] if alone else []
    parts += [Text(), _so_far(frame)] if frame.ended else []
    parts += [Text(note, style="yellow") for note in frame.notes]
    return Group(*parts)


def plain_line(frame: LiveFrame) -> str:
    """The same in one line, for logs and pipes."""
    until = "" if frame.total is None else f" of {frame.total:.0f}"
    parts = [f"{frame.elapsed:.0f}{until} s", f"plan {frame.plan_version}"]
    for one in frame.applications:
        facts = [f"{one.name} {rate(one.demand)}/s"]
        if one.normalised is not None:
            facts.append(f"accuracy {percent(one.normalised)}")
        if one.violations is not None:
            facts.append(f"not on time {percent(one.violations)}")
        if one.latency_p99 is not None:
            facts.append(f"p50 {milliseconds(one.latency_p50)} p99 {milliseconds(one.latency_p99)}")
        parts.append(", ".join(facts))
    parts.append(f"hosting {', '.join(hosted(frame.workers))}" if frame.workers else "no workers")
    return " | ".join([*parts, *frame.notes])


def sparkline(values: Sequence[float], width: int = SPARK_WIDTH) -> str:
    """The values as blocks, the highest of them full; more values than blocks are averaged in groups."""
    shown = _grouped_means(values, max(1, math.ceil(len(values) / width)))
    top = max(shown, default=0.0)
    if top <= 0:
        return SPARKS[0] * len(shown)
    return "".join(SPARKS[round(value / top * (len(SPARKS) - 1))] for value in shown)


class Spark:
    """A sparkline that takes the room it gets, so that figures keep theirs in a narrow terminal."""

    def __init__(self, values: Sequence[float]) -> None:
        self.values = values

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(sparkline(self.values, min(options.max_width, SPARK_WIDTH)), style="cyan")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(4, options.max_width), min(SPARK_WIDTH, options.max_width))


def _grouped_means(values: Sequence[float], size: int) -> list[float]:
    """Means of groups of ``size`` values, counted from the newest; an incomplete oldest group is left out."""
    starts = range(len(values) % size, len(values), size)
    return [sum(values[start : start + size]) / size for start in starts]


def _head(frame: LiveFrame) -> RenderableType:
    line = Table.grid(padding=(0, 2))
    cells: list[RenderableType] = [Text(frame.title, style="bold")]
    if frame.total:
        done = min(frame.elapsed, frame.total)
        cells += [ProgressBar(frame.total, done, width=30), Text(f"{done:.0f} of {frame.total:.0f} s")]
    else:
        cells.append(Text(f"up {frame.elapsed:.0f} s", style="dim"))
    if frame.ended:
        cells.append(Text(f"{count(frame.ended)} queries ended"))
    line.add_row(*cells)
    return line


def _health(frame: LiveFrame) -> Text:
    level, words = health(frame)
    return Text(words, style=LEVEL_STYLES[level])


def _routers(frame: LiveFrame) -> Text:
    text = Text("routers  ", style="dim")
    for number, one in enumerate(frame.routers):
        old = "" if one.current else " (old table)"
        text.append(f"{', ' if number else ''}{one.address}{old}", style="not dim" + (" yellow" if old else ""))
    if not frame.routers:
        text.append("none attached: nobody can send queries", style="not dim yellow")
    return text


def _plan(frame: LiveFrame) -> Text:
    if not frame.plan_version:
        return Text("no plan yet", style="yellow")
    text = Text(f"plan {frame.plan_version}", style="bold")
    age = "" if frame.plan_age is None else f", {frame.plan_age:.0f} s old"
    text.append(f"  {frame.plan_trigger or 'no trigger given'}{age}", style="not bold")
    if frame.plan_detail:
        text.append(f"  {frame.plan_detail}", style="not bold dim")
    if frame.phi < 1:
        text.append(f"  overload: {percent(frame.phi)} of the demand can be served", style="not bold not dim yellow")
    return text


def _applications(frame: LiveFrame) -> Table:
    """What callers felt has columns only where it is known: a controller does not know it, a replay does."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("application", no_wrap=True)
    table.add_column("demand")
    seen = any(one.violations is not None or one.latency_p99 is not None for one in frame.applications)
    short = any(one.served < 1 for one in frame.applications)
    plan = ("now", "planned", *(("served",) if short else ()), "accuracy", "of best")
    for name in (*plan, *(("missed", "p50", "p99") if seen else ()), "SLO"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in frame.applications:
        table.add_row(*_application(one, seen, short))
    return table


def _application(one: LiveApplication, seen: bool, short: bool) -> list[RenderableType]:
    planned = NOTHING if one.planned is None else f"{rate(one.planned)}/s"
    late = "" if one.latency_p99 is None else LEVELS[2 * (one.latency_p99 > one.slo)]
    felt = [
        Text(percent(one.violations), style=_level(one.violations)),
        Text(milliseconds(one.latency_p50)),
        Text(milliseconds(one.latency_p99), style=late),
    ]
    return [
        Text(one.name),
        Spark(one.history),
        Text(f"{rate(one.demand)}/s"),
        Text(planned),
        *([Text(percent(one.served), style="yellow" if one.served < 1 else "")] if short else []),
        Text(percent(one.accuracy)),
        Text(percent(one.normalised), style="bold"),
        *(felt if seen else ()),
        Text(milliseconds(one.slo), style="dim"),
    ]


def _so_far(frame: LiveFrame) -> Text:
    missed = violation_ratio(frame.outcomes)
    text = Text("so far  ", style="dim")
    text.append(f"{percent(frame.normalised)} effective accuracy", style="not dim bold")
    text.append(f"  {percent(missed)} not on time", style=f"not dim {_level(missed)}")
    ends = [(one, frame.outcomes.get(one, 0)) for one in Outcome]
    named = ", ".join(f"{one.replace('_', ' ')} {count(number)}" for one, number in ends if number)
    text.append(f"  ({named})", style="dim")
    return text


def _level(violations: float | None) -> str:
    if violations is None:
        return ""
    return LEVELS[(violations > HELD) + (violations > MOSTLY)]
