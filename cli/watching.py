"""Following a controller's status in the live view."""

from __future__ import annotations

from collections import defaultdict, deque

from tidewise.cli.frames import status_frame
from tidewise.core.live import LiveFrame
from tidewise.dashboard.tally import SHOWN
from tidewise.proto import control_pb2 as pb


class Watcher:
    """Makes frames of a controller's words, and remembers between them what one word alone does not say.

    That is each application's demand second by second, and when the plan in force was first seen: its age is unknown
    while it is the one found at first.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._history: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=SHOWN))
        self._second = -1
        self._version: int | None = None
        self._since: float | None = None

    def frame(self, status: pb.StatusReply) -> LiveFrame:
        """The frame of this moment; times are the controller's, in seconds since it started."""
        now, version = status.uptime_s, status.plan.version
        if version != self._version:
            self._since = None if self._version is None else now
            self._version = version
        self._remember(status)
        age = None if self._since is None else max(0.0, now - self._since)
        history = {name: tuple(values) for name, values in self._history.items()}
        return status_frame(self._title, status, age, history)

    def _remember(self, status: pb.StatusReply) -> None:
        if int(status.uptime_s) == self._second:
            return
        self._second = int(status.uptime_s)
        for one in status_frame(self._title, status).applications:
            self._history[one.name].append(one.demand)
