"""What one scrape sees: every metric of a process, each read once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from tidewise.dashboard.followed import Followed
from tidewise.dashboard.triton import TritonView

AnyCollector = Counter | Gauge | Histogram | Followed


class OneReading(Collector):
    """All of one process's metrics and, from the same values, those under Triton's names.

    Each metric is read once in a scrape: what both names tell is equal in it, however busy the process.
    ``triton`` is None for a process that has nothing of Triton's.
    """

    def __init__(self, collected: Mapping[str, AnyCollector], triton: TritonView | None) -> None:
        self._collected = collected
        self._triton = triton

    def describe(self) -> Iterator[Family]:
        """The names of our own metrics."""
        for one in self._collected.values():
            yield from one.describe()

    def collect(self) -> Iterator[Family]:
        """Every family, with its values of one moment."""
        read = {name: list(one.collect()) for name, one in list(self._collected.items())}
        for families in read.values():
            yield from families
        if self._triton is not None:
            yield from self._triton.families(read)
