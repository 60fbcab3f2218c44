"""One device at work: its machine driven by the real clock, its batches run, its variants loaded, its callers answered.

Everything here happens on the event loop, except the batches and the loading.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from itertools import count

from tidewise.core.cluster import EMULATED, DeviceType
from tidewise.core.outcome import Reason
from tidewise.worker.actions import Action, Answered, Ended, Load, Start, Unload
from tidewise.worker.answer import Answer, Refused
from tidewise.worker.caller import Caller
from tidewise.worker.device import Device
from tidewise.worker.orders import Order
from tidewise.worker.query import Batch, LaneKey, Query
from tidewise.worker.runner import Done, Runner, ThreadRunner, TimedRunner, Work
from tidewise.worker.sentences import ended_text
from tidewise.worker.servable import Model
from tidewise.worker.sessions import Loader, Sessions, Source
from tidewise.worker.tensors import Tensors

_ids = count(1)


class Station:
    """Drives one device. ``changed`` is called whenever the controller should hear of it."""

    def __init__(
        self, device: Device, device_type: DeviceType, loader: Loader, changed: Callable[[], None] = lambda: None
    ) -> None:
        self.device = device
        self.device_type = device_type
        self.changed = changed
        self._loop = asyncio.get_running_loop()
        self.sessions = Sessions(device_type, loader, self._loaded)
        self._callers: dict[int, Caller] = {}
        self._free = -math.inf  # when the device last became idle
        self._timer: asyncio.TimerHandle | None = None
        self._runner: Runner = (
            TimedRunner(self._loop, self.sessions.profiles, device_type.noise)
            if device_type.provider == EMULATED
            else ThreadRunner(device.name, self._loop)
        )

    @property
    def name(self) -> str:
        """The device's name."""
        return self.device.name

    def submit(
        self, lane: LaneKey, deadline: float, rows: int, inputs: Tensors, outputs: Sequence[str]
    ) -> tuple[int, asyncio.Future[Answer | Refused]]:
        """Queue a query; its id and the future of its end. ``deadline`` is on the event loop's clock."""
        now = self._loop.time()
        query = Query(next(_ids), lane, now, deadline, rows)
        future: asyncio.Future[Answer | Refused] = self._loop.create_future()
        self._callers[query.id] = Caller(query, inputs, outputs, future)
        self._carry_out(self.device.arrived(query, now))
        return query.id, future

    def cancel(self, query_id: int) -> None:
        """Nobody waits for this query any more."""
        caller = self._callers.get(query_id)
        if caller is not None:
            now = self._loop.time()
            reason = Reason.DEADLINE if now >= caller.query.deadline else Reason.CANCELLED
            self._carry_out(self.device.cancelled(query_id, now, reason))

    def order(self, order: Order, sources: Sequence[Source]) -> None:
        """Follow a plan; ``sources`` are those of the order's warm variants, in its order."""
        self.sessions.expect({one.model: source for one, source in zip(order.warm, sources, strict=True)})
        self._carry_out(self.device.ordered(order, self._loop.time()))

    def refuse(self, version: int, reason: str) -> None:
        """Tell the controller that this device cannot follow a plan."""
        self._carry_out(self.device.refused(version, reason, self._loop.time()))

    def drain(self) -> None:
        """Never wait for more queries."""
        self._carry_out(self.device.drain(self._loop.time()))

    def close(self) -> None:
        """Stop. Callers still waiting are told that the process is going."""
        if self._timer is not None:
            self._timer.cancel()
        self.sessions.close()
        self._runner.close()
        for caller in self._callers.values():
            if not caller.future.done():
                caller.future.set_result(Refused(Reason.DRAINING, f"worker {self.name!r} is shutting down"))
        self._callers.clear()

    def _loaded(self, model: Model, failure: str | None) -> None:
        now = self._loop.time()
        loaded = self.device.loaded(model, now) if failure is None else self.device.load_failed(model, failure, now)
        self._carry_out(loaded)

    # carrying out

    def _carry_out(self, actions: Sequence[Action]) -> None:
        for action in actions:
            match action:
                case Answered(query, batch):
                    self._answer(query, batch)
                case Start(batch):
                    self._start(batch)
                case Ended(query, reason, text):
                    self._end(query, reason, text)
                case Load(model):
                    self.sessions.load(model)
                case Unload(model):
                    self.sessions.unload(model)
                case _:
                    self.changed()
        self._arm()

    def _arm(self) -> None:
        """Have the machine's timer ring when it is due; one that rings too early only sets itself anew."""
        wake = self.device.wake
        if self._timer is not None:
            if self._timer.when() <= wake:
                return
            self._timer.cancel()
            self._timer = None
        if wake != math.inf:
            self._timer = self._loop.call_at(wake, self._ring)

    def _ring(self) -> None:
        self._timer = None
        now = self._loop.time()
        self._carry_out(self.device.timer(now) if self.device.wake <= now else ())

    def _start(self, batch: Batch) -> None:
        callers = [self._callers[part.query.id] for part in batch.parts]
        for caller in callers:
            caller.start(batch.started, self._free)
        outputs = callers[0].outputs
        if any(caller.outputs != outputs for caller in callers):
            outputs = list(dict.fromkeys(name for caller in callers for name in caller.outputs))
        work = Work(
            session=self.sessions.loaded[batch.servable.model],
            inputs=[caller.rows_of(part) for caller, part in zip(callers, batch.parts, strict=True)],
            rows=[part.rows for part in batch.parts],
            size=batch.size,
            outputs=outputs,
        )
        self._runner.start(work, self._finished)

    def _finished(self, done: Done) -> None:
        batch = self.device.running
        assert batch is not None
        failures: dict[int, str] = {}
        for part, piece in zip(batch.parts, done.pieces, strict=True):
            caller = self._callers.get(part.query.id)
            if isinstance(piece, str):
                failures[part.query.id] = piece
            elif caller is not None:
                caller.pieces.append(piece)
                caller.computed += done.seconds
        self._free = self._loop.time()
        self._carry_out(self.device.batch_done(self._free, failures))

    def _answer(self, query: Query, batch: Batch) -> None:
        caller = self._callers.pop(query.id)
        if caller.future.done():
            return
        caller.future.set_result(caller.answer(batch))

    def _end(self, query: Query, reason: Reason, text: str) -> None:
        caller = self._callers.pop(query.id)
        if not caller.future.done():
            caller.future.set_result(Refused(reason, text or ended_text(self.device, query, reason, self._loop.time())))
