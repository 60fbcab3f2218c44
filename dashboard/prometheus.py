"""The metrics one process exports: declared collectors from the catalogue, bounded labels, a small HTTP endpoint."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from wsgiref.simple_server import WSGIServer

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
    start_http_server,
)

from tidewise.core.errors import ConfigError
from tidewise.core.metrics_catalogue import CATALOGUE, Kind, Metric, Process
from tidewise.dashboard.followed import Followed, Series
from tidewise.dashboard.labels import KnownLabels
from tidewise.dashboard.reading import AnyCollector, OneReading
from tidewise.dashboard.triton import TritonView

Collected = Counter | Gauge | Histogram
COLLECTORS: dict[Kind, type[Counter] | type[Gauge]] = {Kind.COUNTER: Counter, Kind.GAUGE: Gauge}

disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """Counts, observes and sets what the catalogue declares for one kind of process.

    Labels application, variant, device_type and worker take only values announced with ``know``; anything else is
    counted as "_unknown", so that no caller can grow the number of series. Safe to call from several threads.
    """

    def __init__(self, process: Process) -> None:
        self.registry = CollectorRegistry()
        self._collected: dict[str, AnyCollector] = {
            one.name: _collector(one) for one in CATALOGUE if one.process is process
        }
        self._known = KnownLabels()
        self._children: dict[tuple[str, tuple[str, ...]], Collected] = {}
        self._endpoint: tuple[WSGIServer, threading.Thread] | None = None
        self.triton = TritonView(process)
        ProcessCollector(registry=self.registry)
        self.registry.register(OneReading(self._collected, None if process is Process.CONTROLLER else self.triton))

    def know(
        self,
        applications: Mapping[str, Mapping[str, int]] | None = None,
        device_types: Iterable[str] | None = None,
        workers: Iterable[str] | None = None,
    ) -> None:
        """Announce label values in place of those known before.

        ``applications`` holds the integer version of each variant by name, by application.
        """
        if applications is not None:
            self._known.know("application", applications)
            self._known.know("variant", {name for variants in applications.values() for name in variants})
            self.triton.versions = {name: dict(variants) for name, variants in applications.items()}
        if device_types is not None:
            self._known.know("device_type", device_types)
        if workers is not None:
            self._known.know("worker", workers)
        self._children.clear()

    def count(self, metric: Metric, amount: float = 1.0, **labels: str) -> None:
        """Add to a counter."""
        child = self._child(metric, labels)
        assert isinstance(child, Counter)
        child.inc(amount)

    def observe(self, metric: Metric, value: float, **labels: str) -> None:
        """Add a value (seconds, or a batch size) to a histogram."""
        child = self._child(metric, labels)
        assert isinstance(child, Histogram)
        child.observe(value)

    def observe_stages(self, total: Metric, stage: Metric, seconds: Mapping[str, float], **labels: str) -> None:
        """Add one answered query's stages, and their sum as its total, so that the two always agree."""
        for name, value in seconds.items():
            self.observe(stage, value, stage=name, **labels)
        self.observe(total, sum(seconds.values()), **{name: labels[name] for name in total.labels})

    def set(self, metric: Metric, value: float, **labels: str) -> None:
        """Set a gauge."""
        child = self._child(metric, labels)
        assert isinstance(child, Gauge)
        child.set(value)

    def set_all(self, metric: Metric, values: Mapping[tuple[str, ...], float]) -> None:
        """Set every series of a gauge at once, by label values in declared order; series not named disappear."""
        collected = self._collected[metric.name]
        assert isinstance(collected, Gauge)
        collected.clear()
        self._children = {key: child for key, child in self._children.items() if key[0] != metric.name}
        for labels, value in values.items():
            self.set(metric, value, **dict(zip(metric.labels, labels, strict=True)))

    def follow(self, metric: Metric, value: Callable[[], float]) -> None:
        """Read a gauge without labels from this function at every scrape; for ages."""
        gauge = self._collected[metric.name]
        assert isinstance(gauge, Gauge)
        gauge.set_function(value)

    def read(self, metric: Metric, series: Callable[[], Series]) -> None:
        """Read every series of a metric from this function at every scrape, as its labels stand.

        The function is called in another thread, and bounds its labels itself.
        """
        self._collected[metric.name] = Followed(metric, series)

    def text(self) -> str:
        """All metrics in the Prometheus text format."""
        return generate_latest(self.registry).decode()

    def serve(self, port: int, host: str = "127.0.0.1") -> int:
        """Serve ``/metrics`` from a thread and return the port; 0 picks a free one.

        Raises ConfigError if the port is taken.
        """
        try:
            self._endpoint = start_http_server(port, addr=host, registry=self.registry)
        except OSError as error:
            raise ConfigError(
                f"metrics cannot be served on {host}:{port}: {error.strerror}; choose another port, or 0 for a free one"
            ) from error
        return self._endpoint[0].server_port

    def close(self) -> None:
        """Stop serving."""
        if self._endpoint is not None:
            server, thread = self._endpoint
            server.shutdown()
            server.server_close()
            thread.join()
            self._endpoint = None

    def _child(self, metric: Metric, labels: Mapping[str, str]) -> Collected:
        values = tuple([labels[name] for name in metric.labels])
        child = self._children.get((metric.name, values))
        return self._bounded(metric, values) if child is None else child

    def _bounded(self, metric: Metric, values: tuple[str, ...]) -> Collected:
        collected = self._collected[metric.name]
        assert not isinstance(collected, Followed), f"{metric.name} is read, not counted"
        bounded = tuple(map(self._known.bounded, metric.labels, values))
        child = collected.labels(*bounded) if bounded else collected
        if bounded == values:
            self._children[metric.name, values] = child
        return child


def _collector(metric: Metric) -> Collected:
    if metric.kind is Kind.HISTOGRAM:
        return Histogram(metric.name, metric.help, metric.labels, registry=None, buckets=metric.buckets)
    return COLLECTORS[metric.kind](metric.name, metric.help, metric.labels, registry=None)
