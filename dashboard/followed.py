"""A metric read at every scrape from plain counts that somebody else keeps, so that counting costs next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.registry import Collector

from tidewise.core.histogram import Histogram
from tidewise.core.metrics_catalogue import Kind, Metric

Series = Mapping[tuple[str, ...], float | Histogram]
"""Values by label values in declared order; bounded by whoever counts them."""


class Followed(Collector):
    """Exports ``metric`` from what ``read`` returns; a series that is no longer returned disappears.

    ``read`` is called in the thread that answers the scrape, so it must copy before it walks.
    """

    def __init__(self, metric: Metric, read: Callable[[], Series]) -> None:
        self._metric = metric
        self._read = read

    def describe(self) -> Iterator[Family]:
        """The name alone."""
        yield _family(self._metric, {})

    def collect(self) -> Iterator[Family]:
        """Every series as it is now."""
        yield _family(self._metric, self._read())


def _family(metric: Metric, series: Series) -> Family:
    if metric.kind is Kind.HISTOGRAM:
        return _histograms(metric, series)
    maker = CounterMetricFamily if metric.kind is Kind.COUNTER else GaugeMetricFamily
    family = maker(metric.name, metric.help, labels=metric.labels)
    for labels, value in series.items():
        assert not isinstance(value, Histogram)
        family.add_metric(labels, value)
    return family


def _histograms(metric: Metric, series: Series) -> Family:
    family = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
    for labels, value in series.items():
        assert isinstance(value, Histogram)
        buckets = [(_bound(bound), float(count)) for bound, count in value.cumulative()]
        family.add_metric(labels, buckets, value.total)
    return family


def _bound(value: float) -> str:
    return "+Inf" if value == float("inf") else str(value)
