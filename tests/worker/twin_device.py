"""The C++ machine under the interface of worker/device.py, so that both can be told the same stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tidewise.core.metrics_catalogue import SECONDS
from tidewise.core.outcome import Reason
from tidewise.worker.actions import Action, Answered, Ended, Start
from tidewise.worker.device import Policy
from tidewise.worker.hosting import Hosting, HostingAction, Switch
from tidewise.worker.orders import Order
from tidewise.worker.query import Batch, Part, Query
from tidewise.worker.repertoire import LINGER
from tidewise.worker.servable import Model, Servable
from tidewise.worker.stations import native_is_built

needs_native = pytest.mark.skipif(not native_is_built(), reason="the C++ batcher is not built")


class TwinDevice:
    """Hosting in Python, the rest in C++; no clock, no threads."""

    def __init__(self, name: str, policy: Policy, linger: float = LINGER, memory: int | None = None) -> None:
        from tidewise.native import _worker
        from tidewise.worker.native_device import counters_of, native_order, policy_names

        self.name = name
        self.policy = policy
        self.hosting = Hosting(policy.staged, memory)
        self.running: Batch | None = None
        self._counters_of, self._native_order = counters_of, native_order
        self._core = _worker.Machine(*policy_names(policy), policy.max_queue, policy.reserve, linger, SECONDS)
        self._queries: dict[int, Query] = {}
        self._servables: dict[Model, list[Servable]] = {}

    def arrived(self, query: Query, now: float) -> list[Action]:
        self._queries[query.id] = query
        return self._told(self._core.arrived(query.id, *query.lane, query.arrived, query.deadline, query.rows, now))

    def batch_done(self, now: float, failures: Mapping[int, str] | None = None) -> list[Action]:
        ended, self.running = self.running, None
        assert ended is not None
        return self._told(self._core.batch_done(now, failures or {}), ended)

    def timer(self, now: float) -> list[Action]:
        return self._told(self._core.timer(now))

    def cancelled(self, query_id: int, now: float, reason: Reason = Reason.CANCELLED) -> list[Action]:
        return self._told(self._core.cancelled(query_id, now, reason))

    def ordered(self, order: Order, now: float) -> list[Action]:
        for one in order.warm:
            self._servables.setdefault(one.model, []).append(one)
        return self._hosted(self.hosting.ordered(order), now)

    def refused(self, version: int, reason: str, now: float) -> list[Action]:
        return self._hosted(self.hosting.refuse(version, reason), now)

    def loaded(self, model: Model, now: float) -> list[Action]:
        return self._hosted(self.hosting.loaded(model), now)

    def load_failed(self, model: Model, reason: str, now: float) -> list[Action]:
        return self._hosted(self.hosting.load_failed(model, reason), now)

    def drain(self, now: float) -> list[Action]:
        return self._told(self._core.drain(now))

    @property
    def wake(self) -> float:
        return self._core.wake

    @property
    def margin(self) -> float:
        return self._core.margin

    @property
    def counters(self) -> Any:
        return self._counters_of(self._core.counters())

    @property
    def idle(self) -> bool:
        return not self._core.busy and not self._core.queued

    @property
    def queued(self) -> int:
        return self._core.queued

    @property
    def gone(self) -> int:
        return self._core.gone

    def _hosted(self, decided: Sequence[HostingAction], now: float) -> list[Action]:
        switches = [self._native_order(one.order) for one in decided if isinstance(one, Switch)]
        told = self._core.hosted(switches, self.hosting.leaving(), self.hosting.serving.application, now)
        outward: list[Action] = [one for one in decided if not isinstance(one, Switch)]
        return outward + self._told(told)

    def _told(self, actions: Sequence[tuple[Any, ...]], ended: Batch | None = None) -> list[Action]:
        found: list[Action] = []
        for kind, *what in actions:
            if kind == "start":
                self.running = self._batch(*what)
                found.append(Start(self.running))
            elif kind == "answered":
                assert ended is not None
                found.append(Answered(self._queries[what[0]], ended))
            elif kind == "ended":
                found.append(Ended(self._queries[what[0]], Reason(what[1]), what[2]))
            else:
                found += self.hosting.release(Model(*what[0]))
        return found

    def _batch(
        self,
        described: tuple[tuple[str, str, str], Sequence[float]],
        parts: Sequence[tuple[int, int, int]],
        rows: int,
        size: int,
        reason: str,
        started: float,
        version: int,
    ) -> Batch:
        model, latency = described
        servable = next(one for one in reversed(self._servables[Model(*model)]) if list(one.latency) == list(latency))
        made = tuple(Part(self._queries[query], start, count) for query, start, count in parts)
        return Batch(servable, made, rows, size, reason, started, version)
