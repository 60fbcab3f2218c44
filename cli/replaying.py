"""What a replay shows while it runs: a live line in a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from tidewise.core.outcome import Outcome
from tidewise.core.record import QueryRecord
from tidewise.core.scorecard import Scorecard
from tidewise.dashboard.card import Card
from tidewise.dashboard.numbers import milliseconds, percent

PLAIN_EVERY = 5.0  # seconds between lines without a terminal
DRAW_EVERY = 0.25


class ReplayProgress:
    """Counts outcomes as they come and shows them on standard error."""

    def __init__(self, arrivals: int, console: Console) -> None:
        self._arrivals = arrivals
        self._outcomes: Counter[str] = Counter()
        self._console = console
        self._shown = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeRemainingColumn(),
        )
        self._task = self._bar.add_task("replay", total=arrivals)
        self._live = Live(self._bar, console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> ReplayProgress:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    @property
    def ended(self) -> int:
        """How many queries have ended."""
        return self._outcomes.total()

    def add(self, record: QueryRecord) -> None:
        """Count one query; draws if it is time to."""
        self._outcomes[record.outcome] += 1
        every = DRAW_EVERY if self._console.is_terminal else PLAIN_EVERY
        if (now := time.monotonic()) - self._shown >= every:
            self._shown = now
            self._show()

    def _show(self) -> None:
        text = f"{self.ended:,} of {self._arrivals:,} ended: {counted(self._outcomes)}"
        if self._console.is_terminal:
            self._bar.update(self._task, completed=self.ended, description=text)
            self._live.refresh()
        else:
            self._console.print(text, highlight=False, soft_wrap=True)


def counted(outcomes: Mapping[str, int]) -> str:
    """Outcome counts as words, those at zero left out."""
    return ", ".join(f"{outcomes[one]:,} {one.replace('_', ' ')}" for one in Outcome if outcomes.get(one)) or "nothing"


def scorecard_lines(card: Card) -> list[str]:
    """The scorecard of a run, a line for the whole and one for each application."""
    lines = [f"{card.whole.arrivals:,} arrivals: {counted(card.whole.outcomes)}", _line("all", card.whole)]
    for name, one in card.applications.items():
        measured = f"; {percent(card.measured[name])} of the labels right" if name in card.measured else ""
        lines.append(_line(name, one) + measured)
    return lines


def _line(name: str, one: Scorecard) -> str:
    return (
        f"{name}: {percent(one.violation_ratio)} violations, {percent(one.effective_accuracy)} effective accuracy,"
        f" {percent(one.on_time_accuracy_per_arrival)} on-time accuracy per arrival,"
        f" p50 {milliseconds(one.latency_p50)}, p99 {milliseconds(one.latency_p99)}"
    )
