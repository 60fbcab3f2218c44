"""What a device can run now: the order in force, and replaced ones while they linger for late queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tidewise.worker.hosting import Hosting, HostingAction, Load, Report, Switch, Unload
from tidewise.worker.orders import Order
from tidewise.worker.query import LaneKey
from tidewise.worker.queue import NEVER
from tidewise.worker.servable import Model, Servable

LINGER = 2.0  # seconds a replaced variant stays for queries that routers sent before they knew
Outward = Load | Unload | Report


class Repertoire:
    """Which variants may run which lane. ``linger`` is how long a replaced variant still takes queries, in seconds.

    ``staged`` and ``memory`` as in Hosting.
    """

    def __init__(self, linger: float = LINGER, staged: bool = True, memory: int | None = None) -> None:
        self.hosting = Hosting(staged, memory)
        self.linger = linger
        self._choices: dict[str, tuple[Servable, ...]] = {}  # by application; none of them has been let go
        self._versions: dict[str, int] = {}  # by application, of the order last in force
        self._servables: dict[tuple[str, str], Servable] = {}
        self._release_at: dict[Model, float] = {}
        self.lingers = False  # whether any replaced variant is still here

    def candidates(self, lane: LaneKey) -> tuple[Servable, ...]:
        """The variants that may run a lane, the preferred one first; none if it cannot be served here."""
        if lane.pin:
            pinned = self._servables.get(lane[:2])
            return () if pinned is None else (pinned,)
        return self._choices.get(lane.application, ())

    def takes(self, lane: LaneKey, now: float) -> bool:
        """Whether new queries of this lane are served."""
        candidates = self.candidates(lane)
        if not candidates or not self.lingers:
            return bool(candidates)
        return self._release_at.get(candidates[0].model, NEVER) > now

    def plan_version(self, application: str) -> int:
        """The version of the plan by which an application is served."""
        return self._versions[application]

    def decided(self, actions: Iterable[HostingAction], now: float) -> list[Outward]:
        """Take in what hosting decided; what is left is for whoever drives the device."""
        outward = self._applied(actions)
        leaving = self.hosting.leaving()
        self._release_at = {model: self._release_at.get(model, now + self.linger) for model in leaving}
        self.lingers = bool(leaving)
        return outward

    def release(self, now: float, needed: Callable[[Model], bool], queued: Iterable[str]) -> list[Outward]:
        """Let go of replaced variants whose time has come and that no query needs; forget what nothing serves.

        ``queued`` are the applications of queries that still wait: a newer order may want their variants again.
        """
        outward: list[Outward] = []
        for model in [model for model, at in self._release_at.items() if at <= now and not needed(model)]:
            del self._release_at[model]
            outward += self._applied(self.hosting.release(model))
            serving = self._servables.get(model[:2])
            if serving is not None and serving.model == model:
                del self._servables[model[:2]]
            left = self._choices.get(model.application, ())
            self._choices[model.application] = tuple(one for one in left if one.model != model)
        self.lingers = bool(self._release_at)
        held = {self.hosting.serving.application, *queued, *(model.application for model in self._release_at)}
        self._choices = {name: left for name, left in self._choices.items() if left and name in held}
        return outward

    def next_release(self, now: float) -> float:
        """When ``release`` next has something new to look at, infinite if never. What is overdue waits for a query."""
        return min((at for at in self._release_at.values() if at > now), default=NEVER)

    def _applied(self, actions: Iterable[HostingAction]) -> list[Outward]:
        outward: list[Outward] = []
        for action in actions:
            if isinstance(action, Switch):
                self._switch(action.order)
            else:
                outward.append(action)
        return outward

    def _switch(self, order: Order) -> None:
        self._servables |= {one.model[:2]: one for one in order.warm}
        if order.application:
            self._choices[order.application] = order.choices
            self._versions[order.application] = order.version
