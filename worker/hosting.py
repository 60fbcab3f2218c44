"""Which variants a device holds: loading, ready, leaving. Make before break, as a table and a small machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from tidewise.worker.orders import Order
from tidewise.worker.servable import Model


class State(Enum):
    """The life of one model on a device."""

    ABSENT = auto()
    LOADING = auto()
    READY = auto()
    LEAVING = auto()  # no longer wanted, kept until no query needs it
    ABANDONED = auto()  # no longer wanted while loading; a load cannot be interrupted


class Event(Enum):
    """What happens to a model."""

    WANTED = auto()
    UNWANTED = auto()
    LOADED = auto()
    FAILED = auto()
    RELEASED = auto()


@dataclass(frozen=True, slots=True)
class Load:
    """Load this model, then say ``loaded`` or ``load_failed``."""

    model: Model


@dataclass(frozen=True, slots=True)
class Unload:
    """Close this model's session; nothing runs on it any more."""

    model: Model


@dataclass(frozen=True, slots=True)
class Switch:
    """Serve by this order from now on."""

    order: Order


@dataclass(frozen=True, slots=True)
class Report:
    """What the controller was last told is no longer true."""


HostingAction = Load | Unload | Switch | Report

TRANSITIONS: Mapping[tuple[State, Event], tuple[State, type[Load] | type[Unload] | None]] = {
    (State.ABSENT, Event.WANTED): (State.LOADING, Load),
    (State.LOADING, Event.WANTED): (State.LOADING, None),
    (State.LOADING, Event.UNWANTED): (State.ABANDONED, None),
    (State.LOADING, Event.LOADED): (State.READY, None),
    (State.LOADING, Event.FAILED): (State.ABSENT, None),
    (State.ABANDONED, Event.WANTED): (State.LOADING, None),
    (State.ABANDONED, Event.UNWANTED): (State.ABANDONED, None),
    (State.ABANDONED, Event.LOADED): (State.ABSENT, Unload),
    (State.ABANDONED, Event.FAILED): (State.ABSENT, None),
    (State.READY, Event.WANTED): (State.READY, None),
    (State.READY, Event.UNWANTED): (State.LEAVING, None),
    (State.LEAVING, Event.WANTED): (State.READY, None),
    (State.LEAVING, Event.UNWANTED): (State.LEAVING, None),
    (State.LEAVING, Event.RELEASED): (State.ABSENT, Unload),
}
"""A pair that is not listed cannot happen; asking for it raises KeyError."""

NOTHING = Order(version=0)
SWAPS: Mapping[str, bool] = {"staged": True, "blocking": False}
"""How variants are swapped, by name: whether the old one serves until the new one is ready."""


class Hosting:
    """One device's models. ``serving`` is the order in force, ``pending`` the one whose models still load.

    Models load one after another. An order comes into force as soon as it can be followed in part: for the
    application served already, when its ceiling is ready; for another, when its first variant is. ``serving`` then
    holds that part, and grows. A newer order replaces a pending one. An order that cannot be followed is refused and
    the old one stays in force; ``refused`` holds its version and the reason. Where swaps are not ``staged``, as in
    published systems, a device serves nothing from the moment its order changes until it can follow it.

    What is held, replaced variants that linger included, never takes more than ``memory`` bytes (None for no limit): a
    load waits until there is room, and variants in force give way to it, their ceiling last. An order that is refused
    brings back what gave way.
    """

    def __init__(self, staged: bool = True, memory: int | None = None) -> None:
        self.staged = staged
        self.memory = memory
        self.serving = NOTHING
        self._whole = NOTHING  # the order in force, with what gave way
        self._needs: dict[Model, int] = {}  # bytes
        self.pending: Order | None = None
        self.refused: tuple[int, str] = (0, "")
        self.states: dict[Model, State] = {}

    def state(self, model: Model) -> State:
        """Where the model is in its life."""
        return self.states.get(model, State.ABSENT)

    def leaving(self) -> list[Model]:
        """Models to be released as soon as no query needs them."""
        return [model for model, state in self.states.items() if state is State.LEAVING]

    def ordered(self, order: Order) -> list[HostingAction]:
        """Follow a new order: load what is missing; switch at once if it can be followed in part."""
        known = {*self.states, *_models(self._whole)}
        self._needs = {one: need for one, need in self._needs.items() if one in known}
        self._needs |= {one.model: one.memory for one in order.warm}
        if self._moves_nothing(order):
            self.serving = self._whole = order
            return [Switch(order), Report()]
        self.pending = order
        actions: list[HostingAction] = []
        if not self.staged and self.serving.warm and order.warm and not self._begins(order):
            self.serving = Order(self.serving.version)
            actions = [Switch(self.serving), Report()]
        return [*actions, *self._reconcile(), *self._switch_if_ready()]

    def refuse(self, version: int, reason: str) -> list[HostingAction]:
        """An order that cannot be followed at all; the one in force stays."""
        if version >= self.refused[0]:  # an older one that is tried again may fail again, and is no news
            self.refused = (version, reason)
        lacking = self.serving.warm != self._whole.warm and version != self._whole.version
        self.pending = self._whole if lacking else None
        reconciled = self._reconcile()
        return [*reconciled, *(self._switch_if_ready() or [Report()])]  # what gave way may be here still

    def loaded(self, model: Model) -> list[HostingAction]:
        """A model is loaded, checked and ready to run."""
        return self._step(model, Event.LOADED) + self._switch_if_ready() + self._reconcile()

    def load_failed(self, model: Model, reason: str) -> list[HostingAction]:
        """A model could not be loaded; an order that needs it is refused."""
        actions = self._step(model, Event.FAILED)
        if self.pending is not None and model in _models(self.pending):
            return actions + self.refuse(self.pending.version, reason)
        return actions + self._reconcile()

    def release(self, model: Model) -> list[HostingAction]:
        """No query needs this leaving model any more."""
        return self._step(model, Event.RELEASED) + self._reconcile()

    def _moves_nothing(self, order: Order) -> bool:
        """Whether an order, as most do, asks for what is served already and at most moves the ceiling."""
        return self.pending is None and _models(order) == _models(self.serving)

    def _switch_if_ready(self) -> list[HostingAction]:
        order = self.pending
        if order is None or not self._begins(order):
            return []
        part = self._ready_part(order)
        self._whole = order
        if len(part.warm) == len(order.warm):
            self.pending = None
        elif part == self.serving:
            return []
        self.serving = part
        return [Switch(part), *self._reconcile(), Report()]

    def _begins(self, order: Order) -> bool:
        """Whether enough of the order is ready for it to come into force."""
        return not order.warm or self.state(order.choices[0].model) is State.READY

    def _ready_part(self, order: Order) -> Order:
        """The order with what is ready of it; the ceiling is the best ready one from the order's own down."""
        ready = [one for one in order.warm if self.state(one.model) is State.READY]
        above = sum(one in ready for one in order.warm[: order.ceiling])
        return replace(order, warm=tuple(ready), ceiling=min(above, max(0, len(ready) - 1)))

    def _reconcile(self) -> list[HostingAction]:
        """Let go of what is not wanted, keep what is, and load the next that is missing unless something loads."""
        wanted = dict.fromkeys(_models(self.serving) + (self._by_urgency(self.pending) if self.pending else ()))
        actions: list[HostingAction] = []
        for model in [one for one in self.states if one not in wanted]:
            actions += self._step(model, Event.UNWANTED)
        missing = [one for one in wanted if self.state(one) is State.ABSENT]
        for model in wanted:
            if model not in missing:
                actions += self._step(model, Event.WANTED)
        if missing and State.LOADING not in self.states.values():
            actions += self._load(missing[0])
        return actions

    def _load(self, model: Model) -> list[HostingAction]:
        """Load it if there is room; else wait for what leaves, and let more of what is in force leave if need be."""
        if self.memory is None:
            return self._step(model, Event.WANTED)
        lacking = self._bytes([*self.states, model]) - self.memory
        if lacking <= 0:
            return self._step(model, Event.WANTED)
        leaving = [one for one, state in self.states.items() if state in (State.LEAVING, State.ABANDONED)]
        kept = self._giving_way(lacking - self._bytes(leaving))
        if kept != self.serving:
            self.serving = kept
            return [Switch(kept), *self._reconcile(), Report()]
        return [] if leaving else self._step(model, Event.WANTED)  # nothing else could leave: an order alone fits

    def _bytes(self, models: Iterable[Model]) -> int:
        return sum(self._needs.get(one, 0) for one in models)

    def _giving_way(self, lacking: int) -> Order:
        """The order in force without as many of its variants as it takes; none of those the pending order has."""
        asked = _models(self.pending) if self.pending else ()
        warm = self.serving.warm
        gone: set[Model] = set()
        for model in reversed(self._by_urgency(self.serving)):
            if lacking > 0 and model not in asked:
                gone.add(model)
                lacking -= self._needs.get(model, 0)
        left = tuple(one for one in warm if one.model not in gone)
        if not left:
            return Order(self.serving.version)
        above = sum(one in left for one in warm[: self.serving.ceiling])
        return replace(self.serving, warm=left, ceiling=min(above, len(left) - 1))

    def _by_urgency(self, order: Order) -> tuple[Model, ...]:
        """What to load first: the ceiling, then the fastest, which helps most when queues are long."""
        fastest_first = sorted(order.warm, key=lambda one: -one.rate)
        return tuple(dict.fromkeys(one.model for one in (*order.choices[:1], *fastest_first)))

    def _step(self, model: Model, event: Event) -> list[HostingAction]:
        state, action = TRANSITIONS[self.state(model), event]
        if state is State.ABSENT:
            self.states.pop(model, None)
        else:
            self.states[model] = state
        return [action(model)] if action else []


def _models(order: Order) -> tuple[Model, ...]:
    return tuple(one.model for one in order.warm)
