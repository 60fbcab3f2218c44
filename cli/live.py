"""The live view: one screen updated in place, or a plain line now and then without a terminal."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.live import Live

from tidewise.core.live import LiveFrame
from tidewise.dashboard.terminal import plain_line, screen

PLAIN_EVERY = 5.0  # seconds of the frames' own time between plain lines


class LiveView:
    """Shows frames as they come; a context manager that leaves the last frame on the screen."""

    def __init__(self, console: Console, plain_every: float = PLAIN_EVERY) -> None:
        self._console = console
        self._plain_every = plain_every
        self._next = 0.0
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None

    def __enter__(self) -> LiveView:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, frame: LiveFrame) -> None:
        """Draw this frame; without a terminal only if the last line is old enough."""
        if self._live is not None:
            self._live.update(screen(frame), refresh=True)
        elif frame.elapsed >= self._next:
            self._next = frame.elapsed + self._plain_every
            self._console.print(plain_line(frame), highlight=False, markup=False, soft_wrap=True)
