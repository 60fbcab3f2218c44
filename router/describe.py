"""What Triton's and KServe's clients ask about an application, as messages made of the table and the statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidewise.core.application import Application, Variant
from tidewise.core.cluster import DEFAULT_BATCH_SIZES
from tidewise.proto import describe
from tidewise.proto import inference_pb2 as pb
from tidewise.proto.describe import batch_statistics, duration
from tidewise.router.statistics import Figures, Statistics
from tidewise.router.table import RoutingTable


def model_metadata(application: Application, variants: Iterable[Variant]) -> pb.ModelMetadataResponse:
    """Tensors with their batch axis; ``variants`` are those asked about, as versions."""
    names = ",".join(f"{one.version}={one.name}" for one in application.variants)
    return describe.model_metadata(application, [one.version for one in variants], {"variants": names})


def model_config(application: Application) -> pb.ModelConfigResponse:
    """The part of Triton's configuration that its clients use; shapes without the batch axis."""
    return describe.model_config(application, _max_batch(application), {"slo_ms": describe.slo_ms(application)})


def model_statistics(
    application: Application, variants: Iterable[Variant], statistics: Statistics
) -> Iterator[pb.ModelStatistics]:
    """One entry for each variant: what this router has seen answered since it started."""
    return (_statistics(application.name, one, statistics.of(application.name, one.name)) for one in variants)


def repository_index(table: RoutingTable, only_ready: bool) -> pb.RepositoryIndexResponse:
    """Every variant of every application, READY where a worker has it warm and can be reached."""
    response = pb.RepositoryIndexResponse()
    for name, entry in sorted(table.entries.items()):
        for variant in entry.application.variants:
            ready = table.serves(name, variant.name)
            if ready or not only_ready:
                state, reason = ("READY", "") if ready else ("UNAVAILABLE", "no worker has it ready")
                response.models.add(name=name, version=str(variant.version), state=state, reason=reason)
    return response


def _max_batch(application: Application) -> int:
    sizes = [size for one in application.variants for size in one.batch_sizes]
    return max(sizes or DEFAULT_BATCH_SIZES)


def _statistics(application: str, variant: Variant, figures: Figures) -> pb.ModelStatistics:
    count = figures.total.count
    return pb.ModelStatistics(
        name=application,
        version=str(variant.version),
        last_inference=round(figures.last * 1e3),
        inference_count=count,
        execution_count=round(figures.executions),
        inference_stats=pb.InferStatistics(
            success=duration(count, figures.total.total),
            fail=duration(0, 0.0),
            queue=duration(count, figures.queued.total),
            compute_input=duration(count, 0.0),
            compute_infer=duration(count, figures.computed.total),
            compute_output=duration(count, 0.0),
        ),
        batch_stats=[
            batch_statistics(size, queries, computed) for size, (queries, computed) in sorted(figures.batches.items())
        ],
    )
