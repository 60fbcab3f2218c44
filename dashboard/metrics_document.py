"""Writes docs/metrics.md from the catalogue: python -m tidewise.dashboard.metrics_document"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tidewise.core.metrics_catalogue import (
    CATALOGUE,
    NO_REASON,
    SECONDS,
    SIZES,
    STAGES,
    TRITON,
    UNKNOWN,
    Metric,
    Process,
)
from tidewise.core.outcome import OUTCOME_OF_REASON, Outcome

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "metrics.md"
PREAMBLE = """# Metrics

Made from `core/metrics_catalogue.py` by `python -m tidewise.dashboard.metrics_document`; edit the catalogue, not this.

Every process serves these at `/metrics` in the Prometheus text format; the router's default port is 8002.

- Durations are histograms in seconds with the same buckets in every process, so buckets of several workers may be
  summed before a quantile is taken: {seconds}. Batch sizes use {sizes}.
- Whether a duration includes waiting stands in its help text. The stages of a query sum to its total.
- Labels are bounded. A name that is not an application, variant, device type or worker of the cluster becomes
  `{unknown}`. `outcome` is one of {outcomes}; every arrival ends in exactly one. `reason` is `{none}` for an answered
  query. `stage` is one of {stages}.
- Summing a router's and a worker's counters counts queries twice; choose one kind of process.
"""
QUERIES = """## Useful questions

| question | PromQL |
| --- | --- |
| violation ratio | `1 - sum(rate(tidewise_router_queries_total{outcome="on_time"}[1m])) / sum(rate(tidewise_router_queries_total[1m]))` |
| effective accuracy, normalised | `sum(rate(tidewise_router_on_time_accuracy_total[1m])) / sum(rate(tidewise_router_queries_total{outcome="on_time"}[1m]))` |
| p99 latency by application | `histogram_quantile(0.99, sum by (application, le) (rate(tidewise_router_query_seconds_bucket[1m])))` |
| mean batch size | `sum(rate(tidewise_worker_batch_size_sum[1m])) / sum(rate(tidewise_worker_batch_size_count[1m]))` |
| queries waiting | `sum(tidewise_worker_queue_depth)` |
| share of time a device is busy | `rate(tidewise_worker_busy_seconds_total[1m])` |
"""  # noqa: E501


def document() -> str:
    """The text of docs/metrics.md."""
    parts = [
        PREAMBLE.format(
            seconds=_numbers(SECONDS),
            sizes=_numbers(SIZES),
            unknown=UNKNOWN,
            none=NO_REASON,
            outcomes=_names(Outcome),
            stages=_names(STAGES),
        )
    ]
    parts += [_section(process) for process in Process]
    parts += [_triton(), _reasons(), QUERIES]
    return "\n".join(parts)


def _section(process: Process) -> str:
    rows = [_row(one) for one in CATALOGUE if one.process is process]
    return "\n".join([f"## {process.capitalize()}\n", *_table("metric", "kind", "labels", "meaning"), *rows, ""])


def _row(metric: Metric) -> str:
    return f"| `{metric.name}` | {metric.kind} | {_names(metric.labels) or '-'} | {metric.help} |"


def _triton() -> str:
    intro = (
        "Routers and workers also export these, computed from the metrics above, with labels `model` (application),"
        " `version` (the variant's integer version) and `reason`; as Triton does, without `_total`.\n"
    )
    rows = [f"| `{one.name}` | {one.help} |" for one in TRITON]
    return "\n".join(["## Triton's names\n", intro, *_table("metric", "meaning"), *rows, ""])


def _reasons() -> str:
    rows = [f"| `{reason}` | {outcome} |" for reason, outcome in OUTCOME_OF_REASON.items()]
    return "\n".join(["## Reasons\n", *_table("reason", "outcome"), *rows, ""])


def _table(*heads: str) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{one}`" for one in names)


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(f"{one:g}" for one in values)


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
