"""A worker process's metrics: at each scrape, what its devices and its tally hold. No query waits for any of it."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping

from tidewise.core import metrics_catalogue as catalogue
from tidewise.core.histogram import Histogram, merged
from tidewise.dashboard.followed import Series
from tidewise.dashboard.prometheus import Metrics
from tidewise.worker.counters import VariantCounters
from tidewise.worker.host import Host
from tidewise.worker.stations import AnyStation
from tidewise.worker.tally import Tally

Key = tuple[str, str, str]


class Telemetry:
    """Reads one process's devices; ``connected`` says whether the controller is, ``stretches`` how many times its
    profile each device takes. Every reading is of another thread.
    """

    def __init__(
        self,
        host: Host,
        tally: Callable[[], Tally],
        connected: Callable[[], bool],
        stretches: Callable[[], Mapping[str, float]],
    ) -> None:
        self.metrics = Metrics(catalogue.Process.WORKER)
        self._host = host
        self._tally = tally
        self._plans: dict[str, tuple[int, float]] = {}  # version and since when, by worker
        self.changed()
        self._follow_queries()
        self._follow_devices()
        self.metrics.read(catalogue.WORKER_STRETCH, lambda: {(name,): one for name, one in stretches().items()})
        self.metrics.follow(catalogue.WORKER_CONNECTED, lambda: float(connected()))

    def changed(self) -> None:
        """A device may have followed a plan."""
        now = time.monotonic()
        for name, station in self._host.stations.items():
            version = station.device.hosting.serving.version
            if self._plans.get(name, (None, now))[0] != version:
                self._plans[name] = version, now
        served = [one.application for one in self._host.catalogue.values()]
        self.metrics.know(applications={one.name: {each.name: each.version for each in one.variants} for one in served})

    def _follow_queries(self) -> None:
        read, tally = self.metrics.read, self._tally
        read(catalogue.WORKER_QUERIES, lambda: {(*key,): count for key, count in list(tally().ended.items())})
        read(catalogue.WORKER_ANSWERS, lambda: {key: one.total.count for key, one in list(tally().stages.items())})
        read(catalogue.WORKER_QUERY, self._query_seconds)
        read(catalogue.WORKER_STAGE, self._stage_seconds)

    def _follow_devices(self) -> None:
        read = self.metrics.read
        read(catalogue.WORKER_BATCH, lambda: _merged(self._sizes(), catalogue.SIZES))
        read(catalogue.WORKER_COMPUTE, lambda: _merged((key, one.durations) for key, one in self._counters()))
        read(catalogue.WORKER_LOAD, lambda: _merged(self._loads()))
        read(catalogue.WORKER_LOAD_FAILURES, self._load_failures)
        read(catalogue.WORKER_DISPATCHES, self._dispatches)
        read(catalogue.WORKER_QUEUE, self._waiting)
        read(catalogue.WORKER_HOSTED, self._hosted)
        read(catalogue.WORKER_BUSY, lambda: {(one.name,): float(one.device.busy) for one in self._all()})
        read(catalogue.WORKER_BUSY_TIME, lambda: {(one.name, _type(one)): _busy(one) for one in self._all()})
        read(catalogue.WORKER_PLAN_VERSION, lambda: {(name,): plan[0] for name, plan in self._plans.items()})
        read(
            catalogue.WORKER_PLAN_AGE,
            lambda: {(name,): time.monotonic() - plan[1] for name, plan in self._plans.items()},
        )

    def _all(self) -> Iterator[AnyStation]:
        return iter(self._host.stations.values())

    def _query_seconds(self) -> Series:
        parts: dict[str, list[Histogram]] = defaultdict(list)
        for (application, _, _), stages in list(self._tally().stages.items()):
            parts[application].append(stages.total)
        return {(application,): merged(found) for application, found in parts.items()}

    def _stage_seconds(self) -> Series:
        return _merged(
            ((application, variant, stage), getattr(stages, stage))
            for (application, variant, _), stages in list(self._tally().stages.items())
            for stage in ("queue", "batch", "compute", "reply")
        )

    def _counters(self) -> Iterator[tuple[Key, VariantCounters]]:
        for station in self._all():
            for (application, variant), counts in list(station.device.counters.variants.items()):
                yield (application, variant, _type(station)), counts

    def _sizes(self) -> Iterator[tuple[Key, Histogram]]:
        for key, counts in self._counters():
            sizes = Histogram(catalogue.SIZES)
            for size, count in list(counts.sizes.items()):
                sizes.add(size, count)
            yield key, sizes

    def _loads(self) -> Iterator[tuple[Key, Histogram]]:
        for station in self._all():
            for model, seconds in list(station.sessions.seconds.items()):
                yield (model.application, model.variant, _type(station)), seconds

    def _load_failures(self) -> Series:
        failures = Counter[tuple[str, ...]]()
        for station in self._all():
            for model, count in list(station.sessions.failures.items()):
                failures[model.application, model.variant] += count
        return dict(failures)

    def _dispatches(self) -> Series:
        return {
            (one.name, cause): count
            for one in self._all()
            for cause, count in list(one.device.counters.dispatches.items())
        }

    def _waiting(self) -> Series:
        waiting = Counter[tuple[str, ...]]()
        for station in self._all():
            for one in station.device.hosting.serving.warm:
                waiting[one.model.application, station.name] += 0
            for application, queued in station.device.waiting.items():
                waiting[application, station.name] += queued
        return dict(waiting)

    def _hosted(self) -> Series:
        return {
            (station.name, one.model.application, one.model.variant): 1.0
            for station in self._all()
            for one in station.device.hosting.serving.warm
        }


def _merged(parts: Iterator[tuple[Key, Histogram]], bounds: tuple[float, ...] = catalogue.SECONDS) -> Series:
    """The histograms of several devices of one type, or of several types, under one key."""
    found: dict[tuple[str, ...], list[Histogram]] = defaultdict(list)
    for key, histogram in parts:
        found[key].append(histogram)
    return {key: merged(histograms, bounds) for key, histograms in found.items()}


def _type(station: AnyStation) -> str:
    return station.device_type.name


def _busy(station: AnyStation) -> float:
    return sum(counts.computed for counts in list(station.device.counters.variants.values()))
