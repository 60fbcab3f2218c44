"""Which variants a device holds: loading, ready, leaving. Make before break, as a table and a small machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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


class Hosting:
    """One device's models. ``serving`` is the order in force, ``pending`` the one whose models still load.

    A newer order replaces a pending one. An order that cannot be followed is refused and the old one stays in force;
    ``refused`` holds its version and the reason.
    """

    def __init__(self) -> None:
        self.serving = NOTHING
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
        """Follow a new order: load what is missing; switch at once if nothing is."""
        self.pending = order
        return self._reconcile() + self._switch_if_ready()

    def refuse(self, version: int, reason: str) -> list[HostingAction]:
        """An order that cannot be followed at all; the one in force stays."""
        self.refused = (version, reason)
        self.pending = None
        return [*self._reconcile(), Report()]

    def loaded(self, model: Model) -> list[HostingAction]:
        """A model is loaded, checked and ready to run."""
        return self._step(model, Event.LOADED) + self._switch_if_ready()

    def load_failed(self, model: Model, reason: str) -> list[HostingAction]:
        """A model could not be loaded; an order that needs it is refused."""
        actions = self._step(model, Event.FAILED)
        if self.pending is not None and model in _models(self.pending):
            actions += self.refuse(self.pending.version, reason)
        return actions

    def release(self, model: Model) -> list[HostingAction]:
        """No query needs this leaving model any more."""
        return self._step(model, Event.RELEASED)

    def _switch_if_ready(self) -> list[HostingAction]:
        order = self.pending
        if order is None or any(self.state(model) is not State.READY for model in _models(order)):
            return []
        self.serving, self.pending = order, None
        return [Switch(order), *self._reconcile(), Report()]

    def _reconcile(self) -> list[HostingAction]:
        wanted = dict.fromkeys(_models(self.serving) + (_models(self.pending) if self.pending else ()))
        actions: list[HostingAction] = []
        for model in [*wanted, *(one for one in self.states if one not in wanted)]:
            actions += self._step(model, Event.WANTED if model in wanted else Event.UNWANTED)
        return actions

    def _step(self, model: Model, event: Event) -> list[HostingAction]:
        state, action = TRANSITIONS[self.state(model), event]
        if state is State.ABSENT:
            self.states.pop(model, None)
        else:
            self.states[model] = state
        return [action(model)] if action else []


def _models(order: Order) -> tuple[Model, ...]:
    return tuple(one.model for one in order.warm)
