"""Label values a metric may take: announced ones; everything else is "_unknown", so series stay bounded."""

from __future__ import annotations

from collections.abc import Iterable

from tidewise.core.metrics_catalogue import NO_REASON, STAGES, UNKNOWN
from tidewise.core.outcome import Outcome, Reason

ANNOUNCED = ("application", "variant", "device_type", "worker")
FREE = 24  # values that a label nobody announces (trigger, status) may take before the rest become "_unknown"


class KnownLabels:
    """Which values each label may take."""

    def __init__(self) -> None:
        self._known: dict[str, frozenset[str]] = dict.fromkeys(ANNOUNCED, frozenset())
        self._known["outcome"] = frozenset(Outcome)
        self._known["reason"] = frozenset(Reason) | {NO_REASON}
        self._known["stage"] = frozenset(STAGES)
        self._free: dict[str, set[str]] = {}

    def know(self, label: str, values: Iterable[str]) -> None:
        """Announce the values of a label in place of those known before."""
        self._known[label] = frozenset(values)

    def bounded(self, label: str, value: str) -> str:
        """The value, or "_unknown"."""
        if label in self._known:
            return value if value in self._known[label] else UNKNOWN
        seen = self._free.setdefault(label, set())
        if len(seen) < FREE:
            seen.add(value)
        return value if value in seen else UNKNOWN
