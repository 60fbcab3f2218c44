"""Triton's metric names, computed at each scrape from our own metrics, so that its dashboards keep working."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.core import Metric as Family
from prometheus_client.samples import Sample

from tidewise.core.metrics_catalogue import (
    ROUTER_QUERIES,
    ROUTER_STAGE,
    ROUTER_WAITING,
    TRITON_COUNT,
    TRITON_DURATION,
    TRITON_EXECUTIONS,
    TRITON_FAILURE,
    TRITON_PENDING,
    TRITON_STAGES,
    TRITON_SUCCESS,
    WORKER_BATCH,
    WORKER_QUERIES,
    WORKER_QUEUE,
    WORKER_STAGE,
    Process,
    TritonMetric,
)
from tidewise.core.outcome import Outcome

Labels = tuple[tuple[str, str], ...]
Read = Mapping[str, Iterable[Family]]
ANSWERED = (Outcome.ON_TIME, Outcome.LATE)


class TritonView:
    """Renders the stage histograms and outcome counters of one process under Triton's names.

    ``versions`` maps application and variant name to the variant's integer version, Triton's ``version`` label.
    Triton leaves ``_total`` off its counters, which the text format can only carry as untyped.
    """

    def __init__(self, process: Process) -> None:
        self.versions: dict[str, dict[str, int]] = {}
        self._router = process is Process.ROUTER

    def families(self, read: Read) -> Iterator[Family]:
        """Every Triton family, computed from our own families as just read, by metric name."""
        stage = _samples(read, (ROUTER_STAGE if self._router else WORKER_STAGE).name)
        count = [one for one in stage if one.name.endswith("_count") and one.labels["stage"] == "compute"]
        spent = [one for one in stage if one.name.endswith("_sum")]
        yield self._family(TRITON_SUCCESS, self._by_model(count))
        yield self._family(TRITON_FAILURE, self._failures(read))
        yield self._family(TRITON_PENDING, self._by_model(self._pending(read)))
        yield self._family(TRITON_DURATION, self._by_model(spent, 1e6))
        for metric in TRITON_STAGES:
            yield self._family(metric, self._by_model((s for s in spent if s.labels["stage"] in metric.stages), 1e6))
        if self._router:  # which does not know how many rows a query has
            yield self._family(TRITON_COUNT, self._by_model(count))
            return
        batches = _samples(read, WORKER_BATCH.name)
        yield self._family(TRITON_COUNT, self._by_model(one for one in batches if one.name.endswith("_sum")))
        yield self._family(TRITON_EXECUTIONS, self._by_model(one for one in batches if one.name.endswith("_count")))

    def _pending(self, read: Read) -> list[Sample]:
        return _samples(read, (ROUTER_WAITING if self._router else WORKER_QUEUE).name)

    def _by_model(self, samples: Iterable[Sample], scale: float = 1.0) -> dict[Labels, float]:
        sums: dict[Labels, float] = defaultdict(float)
        for one in samples:
            model, variant = one.labels["application"], one.labels.get("variant")
            version = self.versions.get(model, {}).get(variant or "")
            labels = {"model": model} | ({} if variant is None else {"version": str(version or variant)})
            sums[tuple(labels.items())] += one.value * scale
        return sums

    def _failures(self, read: Read) -> dict[Labels, float]:
        sums: dict[Labels, float] = defaultdict(float)
        for one in _samples(read, (ROUTER_QUERIES if self._router else WORKER_QUERIES).name):
            if one.labels["outcome"] not in ANSWERED:
                sums[("model", one.labels["application"]), ("reason", one.labels["reason"])] += one.value
        return sums

    def _family(self, metric: TritonMetric, values: Mapping[Labels, float]) -> Family:
        family = Family(metric.name, metric.help, "unknown")
        for labels, value in values.items():
            family.add_sample(metric.name, dict(labels), value)
        return family


def _samples(read: Read, name: str) -> list[Sample]:
    return [sample for family in read[name] for sample in family.samples]
