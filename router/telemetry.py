"""The router's metrics: at each scrape, what its tally and statistics hold. No query waits for any of it."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable

from tidewise.core import metrics_catalogue as catalogue
from tidewise.core.histogram import Histogram, merged
from tidewise.core.routes import RoutingSnapshot
from tidewise.dashboard.followed import Series
from tidewise.dashboard.prometheus import Metrics
from tidewise.router.plane import Plane


class Telemetry:
    """Reads one forwarder; ``connected`` says whether the controller is. Every reading is of the scraping thread."""

    def __init__(self, forwarder: Plane, connected: Callable[[], bool]) -> None:
        self.metrics = Metrics(catalogue.Process.ROUTER)
        self._forwarder = forwarder
        self._told = time.monotonic()
        self._follow_counts()
        self.metrics.follow(catalogue.ROUTER_PLAN_VERSION, lambda: forwarder.table.plan_version)
        self.metrics.follow(catalogue.ROUTER_REVISION, lambda: forwarder.table.revision)
        self.metrics.follow(catalogue.ROUTER_SNAPSHOT_AGE, lambda: time.monotonic() - self._told)
        self.metrics.follow(catalogue.ROUTER_CONNECTED, lambda: float(connected()))

    def installed(self, snapshot: RoutingSnapshot) -> None:
        """A new snapshot is in force."""
        self._told = time.monotonic()
        self.metrics.know(
            applications={
                name: {each.name: each.version for each in one.variants} for name, one in snapshot.applications.items()
            }
        )

    def _follow_counts(self) -> None:
        totals, read = self._forwarder.tally.totals, self.metrics.read
        read(catalogue.ROUTER_ARRIVALS, lambda: _by_name(totals.arrivals))
        read(catalogue.ROUTER_RETRIES, lambda: _by_name(totals.retries))
        read(catalogue.ROUTER_QUERIES, self._queries)
        read(catalogue.ROUTER_WAITING, self._waiting)
        read(catalogue.ROUTER_ROUTES, self._routes)
        read(catalogue.ROUTER_ANSWERS, self._answers)
        read(catalogue.ROUTER_ON_TIME_ACCURACY, self._worth)
        read(catalogue.ROUTER_QUERY, self._query_seconds)
        read(catalogue.ROUTER_STAGE, self._stage_seconds)

    def _queries(self) -> Series:
        return {(*key,): count for key, count in list(self._forwarder.tally.totals.ended.items())}

    def _waiting(self) -> Series:
        """Arrivals less ends; the ends are read first, so that a query between the two readings counts as waiting."""
        totals, ended = self._forwarder.tally.totals, Counter[str]()
        for (name, _, _), count in list(totals.ended.items()):
            ended[name] += count
        return {(name,): max(0, count - ended[name]) for name, count in list(totals.arrivals.items())}

    def _routes(self) -> Series:
        return {(name,): len(entry.everywhere.lanes) for name, entry in self._forwarder.table.entries.items()}

    def _answers(self) -> Series:
        return {key: figures.total.count for key, figures in self._forwarder.statistics.all()}

    def _worth(self) -> Series:
        sums: dict[tuple[str, ...], float] = defaultdict(float)
        for (application, _), figures in self._forwarder.statistics.all():
            sums[application,] += figures.worth
        return sums

    def _query_seconds(self) -> Series:
        parts: dict[str, list[Histogram]] = defaultdict(list)
        for (application, _), figures in self._forwarder.statistics.all():
            parts[application].append(figures.total)
        return {(application,): merged(found) for application, found in parts.items()}

    def _stage_seconds(self) -> Series:
        return {
            (*key, stage): histogram
            for key, figures in self._forwarder.statistics.all()
            for stage, histogram in (
                ("forward", figures.forward),
                ("queue", figures.queued),
                ("compute", figures.computed),
            )
        }


def _by_name(counts: Counter[str]) -> Series:
    return {(name,): count for name, count in list(counts.items())}
