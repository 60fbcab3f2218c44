"""One device at work in C++: queries, batches and timers on threads of its own; Python loads, orders and reports.

The C++ side tells of ends through a file descriptor that the event loop watches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from tidewise.core.cluster import EMULATED, DeviceType
from tidewise.core.metrics_catalogue import SECONDS
from tidewise.core.outcome import Reason
from tidewise.native import _worker
from tidewise.worker.answer import Answer, Refused
from tidewise.worker.device import Policy
from tidewise.worker.hosting import HostingAction, Load, Switch, Unload
from tidewise.worker.native_device import NativeDevice, native_orders, policy_names
from tidewise.worker.native_engine import medians, native_engine
from tidewise.worker.orders import Order
from tidewise.worker.query import LaneKey
from tidewise.worker.repertoire import LINGER
from tidewise.worker.servable import Model
from tidewise.worker.sessions import Loader, Sessions, Source
from tidewise.worker.tensors import Tensors

_ids = count(1)
Waiting = tuple[float, "asyncio.Future[Answer | Refused]"]


class NativeStation:
    """Drives one device, as worker/station.py does. ``changed`` is called whenever the controller should hear of it.

    Devices of one process share a ``clockwork``.
    """

    def __init__(
        self,
        name: str,
        policy: Policy,
        device_type: DeviceType,
        loader: Loader,
        changed: Callable[[], None] = lambda: None,
        clockwork: _worker.Clockwork | None = None,
        linger: float = LINGER,
    ) -> None:
        self.device_type = device_type
        self.changed = changed
        rule, choice = policy_names(policy)
        self._outbox = _worker.Outbox()
        self.core = _worker.Station(
            name,
            rule,
            choice,
            policy.max_queue,
            policy.reserve,
            linger,
            SECONDS,
            clockwork or _worker.Clockwork(),
            self._outbox,
            device_type.provider == EMULATED,
            device_type.noise,
        )
        self.device = NativeDevice(name, policy, self.core, device_type.memory)
        self.sessions = Sessions(device_type, loader, self._loaded)
        self._callers: dict[int, Waiting] = {}
        self._epoch = 0
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._outbox.fd, self._drain)

    @property
    def name(self) -> str:
        """The device's name."""
        return self.device.name

    def submit(
        self, lane: LaneKey, deadline: float, rows: int, inputs: Tensors, outputs: Sequence[str]
    ) -> tuple[int, asyncio.Future[Answer | Refused]]:
        """Queue a query; its id and the future of its end. ``deadline`` is on the event loop's clock."""
        query_id = next(_ids)
        future: asyncio.Future[Answer | Refused] = self._loop.create_future()
        self._callers[query_id] = deadline, future
        self.core.submit(self._outbox, query_id, *lane, deadline, rows, dict(inputs), outputs)
        return query_id, future

    def cancel(self, query_id: int) -> None:
        """Nobody waits for this query any more."""
        caller = self._callers.get(query_id)
        if caller is not None:
            late = self._loop.time() >= caller[0]
            self.core.cancel(query_id, Reason.DEADLINE if late else Reason.CANCELLED)

    def order(self, order: Order, sources: Sequence[Source]) -> None:
        """Follow a plan; ``sources`` are those of the order's warm variants, in its order."""
        self.sessions.expect({one.model: source for one, source in zip(order.warm, sources, strict=True)})
        self._decided(self.device.hosting.ordered(order))

    def refuse(self, version: int, reason: str) -> None:
        """Tell the controller that this device cannot follow a plan."""
        self._decided(self.device.hosting.refuse(version, reason))

    def drain(self) -> None:
        """Never wait for more queries."""
        self.core.drain()

    def close(self) -> None:
        """Stop. Callers still waiting are told that the process is going."""
        self.sessions.close()
        self.core.close()
        self._drain()
        self._loop.remove_reader(self._outbox.fd)

    def _loaded(self, model: Model, failure: str | None) -> None:
        hosting = self.device.hosting
        if failure is not None:
            self._decided(hosting.load_failed(model, failure))
            return
        session = self.sessions.loaded[model]
        self.core.install(model, native_engine(session), medians(self.sessions.profiles[session]))
        self._decided(hosting.loaded(model))

    def _decided(self, actions: Sequence[HostingAction]) -> None:
        """Tell C++ what is in force and what leaves, then do what is Python's part."""
        hosting, serving = self.device.hosting, self.device.hosting.serving
        ready = [one.model.variant for one in serving.warm]
        self._epoch = self.core.hosted(native_orders(actions), hosting.leaving(), serving.application, ready)
        self._carry_out(actions)

    def _carry_out(self, actions: Sequence[HostingAction]) -> None:
        for action in actions:
            match action:
                case Load(model):
                    self.sessions.load(model)
                case Unload(model):
                    self.core.forget(model)
                    self.sessions.unload(model)
                case Switch():
                    continue
                case _:
                    self.changed()

    def _drain(self) -> None:
        """Hear what C++ has to tell."""
        ends, released = self._outbox.drain()
        for query_id, *end in ends:
            _, future = self._callers.pop(query_id)
            if not future.done():
                future.set_result(_ended(end))
        for model, epoch in released:
            if epoch == self._epoch:  # else hosting has decided anew since, and C++ lets go again if that still holds
                self._carry_out(self.device.hosting.release(Model(*model)))


def _ended(end: Sequence[Any]) -> Answer | Refused:
    if len(end) == 2:
        reason, text = end
        return Refused(Reason(reason), text)
    return Answer(*end)
