"""The readings of a device whose machine runs in C++, as worker/device.py gives them; its hosting is Python's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from tidewise.core.histogram import Histogram
from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome, Reason
from tidewise.native import _worker
from tidewise.worker.choice import CHOICES
from tidewise.worker.counters import Counters, VariantCounters
from tidewise.worker.device import Policy
from tidewise.worker.hosting import Hosting, HostingAction, Switch
from tidewise.worker.orders import Order
from tidewise.worker.rivals import KNOWN
from tidewise.worker.servable import Servable

PLAIN = ("served", "failed", "late", "batches", "rows", "queued", "computed", "query_seconds", "last", "expected")


class NativeDevice:
    """One device in C++. Readings may be taken from any thread; each is a copy."""

    def __init__(self, name: str, policy: Policy, core: _worker.Station, memory: int | None) -> None:
        self.name = name
        self.policy = policy
        self.hosting = Hosting(policy.staged, memory)
        self._core = core

    @property
    def counters(self) -> Counters:
        """What the device did since it started."""
        return counters_of(self._core.counters())

    @property
    def waiting(self) -> Mapping[str, int]:
        """Queries queued, by application."""
        return self._core.read()["waiting"]

    @property
    def queued(self) -> int:
        """Queries queued."""
        return self._core.read()["queued"]

    @property
    def busy(self) -> bool:
        """Whether a batch runs."""
        return self._core.read()["busy"]

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing is queued."""
        reading = self._core.read()
        return not reading["busy"] and not reading["queued"]

    def overdue(self, now: float) -> float:
        """Seconds by which the running batch has outlasted its profile."""
        return max(0.0, now - self._core.read()["due"])

    @property
    def margin(self) -> float:
        """Seconds by which batches are expected to outlast their profile."""
        return self._core.read()["margin"]


def policy_names(policy: Policy) -> tuple[str, str]:
    """The names of a policy's rule and choice, by which C++ knows them."""
    rule = next(name for name, one in KNOWN.items() if one is policy.rule)
    choice = next(name for name, one in CHOICES.items() if one is policy.choice)
    return rule, choice


def native_orders(actions: Iterable[HostingAction]) -> list[_worker.Order]:
    """The orders that hosting's actions bring into force."""
    return [native_order(action.order) for action in actions if isinstance(action, Switch)]


def native_order(order: Order) -> _worker.Order:
    """An order for the C++ machine."""
    return _worker.Order(order.version, order.application, [native_servable(one) for one in order.warm], order.ceiling)


def native_servable(one: Servable) -> _worker.Servable:
    """A servable for the C++ machine."""
    return _worker.Servable(tuple(one.model), one.version, one.sizes, one.padded, one.latency, one.brisk)


def counters_of(read: Mapping[str, Any]) -> Counters:
    """Counts as the rest of the worker knows them."""
    counters = Counters(arrivals=Counter(read["arrivals"]), dispatches=Counter(read["dispatches"]))
    answered = {Outcome.ON_TIME: read["on_time"], Outcome.LATE: read["late"]}
    counters.outcomes.update({outcome: count for outcome, count in answered.items() if count})
    for (application, name), count in read["ended"].items():
        reason = Reason(name)
        counters.ended[application, reason] = count
        counters.outcomes[OUTCOME_OF_REASON[reason]] += count
    counters.variants.update({key: _variant(found) for key, found in read["variants"].items()})
    return counters


def _variant(read: Mapping[str, Any]) -> VariantCounters:
    counts, total = read["durations"]
    found = VariantCounters(**{name: read[name] for name in PLAIN})
    found.durations = Histogram(counts=list(counts), total=total)
    found.sizes.update(read["sizes"])
    found.computed_by_size.update(read["computed_by_size"])
    return found
