"""How late queries were sent: the sender's own fault, told apart from the system's."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np

from tidewise.core.record import QueryRecord

TOLERATED = 0.010  # seconds at the 99th percentile, above which a replay is no longer what its trace asked for


@dataclass(frozen=True, slots=True)
class Lateness:
    """Seconds between when queries were due and when they were sent: median, 99th percentile, worst."""

    p50: float = 0.0
    p99: float = 0.0
    worst: float = 0.0

    @property
    def tolerable(self) -> bool:
        """Whether the load was offered as the trace asked."""
        return self.p99 <= TOLERATED

    def __str__(self) -> str:
        return f"p50 {self.p50 * 1e3:.2f} ms, p99 {self.p99 * 1e3:.2f} ms, worst {self.worst * 1e3:.1f} ms"


class LatenessMeter:
    """Collects lateness record by record, 8 bytes each."""

    def __init__(self) -> None:
        self._values = array("d")

    def add(self, record: QueryRecord) -> None:
        """Count one query."""
        self._values.append(record.sent - record.due)

    def reading(self) -> Lateness:
        """The lateness so far."""
        if not self._values:
            return Lateness()
        p50, p99, worst = np.quantile(np.frombuffer(self._values), (0.5, 0.99, 1.0)).tolist()
        return Lateness(p50, p99, worst)
