"""What a worker process says of what it serves: metadata, configuration, statistics, as Triton's clients ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tidewise.proto import describe
from tidewise.proto import inference_pb2 as pb
from tidewise.proto.describe import batch_statistics, duration
from tidewise.worker.counters import VariantCounters
from tidewise.worker.host import Host, Served
from tidewise.worker.servable import Servable


def metadata(served: Served, ready: Iterable[int]) -> pb.ModelMetadataResponse:
    """An application's tensors with their batch axis, and the versions of its variants that are ready here."""
    return describe.model_metadata(served.application, sorted(ready))


def config(served: Served, host: Host) -> pb.ModelConfigResponse:
    """An application as Triton's configuration has it; the batching rule and the queue bound are parameters."""
    largest = max((one.cap for one in in_force(host, served.application.name)), default=0)
    return describe.model_config(served.application, largest, host.effective)


def statistics(
    host: Host, wanted: Callable[[str, str], bool], wall: Callable[[float], float]
) -> pb.ModelStatisticsResponse:
    """Counts and times of every variant ``wanted(application, variant)`` that served here.

    ``wall`` turns a reading of the devices' clock into seconds since the epoch.
    """
    versions = {
        (served.application.name, variant.name): variant.version
        for served in host.catalogue.values()
        for variant in served.application.variants
    }
    response = pb.ModelStatisticsResponse()
    for key in sorted(versions):
        if wanted(*key):
            counts = [found for one in host.stations.values() if (found := one.device.counters.variants.get(key))]
            response.model_stats.append(_statistics(key[0], versions[key], counts, wall))
    return response


def _statistics(
    application: str, version: int, counts: list[VariantCounters], wall: Callable[[float], float]
) -> pb.ModelStatistics:
    served = sum(one.served for one in counts)
    queued, computed = sum(one.queued for one in counts), sum(one.query_seconds for one in counts)
    last = max((one.last for one in counts), default=0.0)
    return pb.ModelStatistics(
        name=application,
        version=str(version),
        last_inference=round(wall(last) * 1e3) if last else 0,
        inference_count=sum(one.rows for one in counts),
        execution_count=sum(one.batches for one in counts),
        inference_stats=pb.InferStatistics(
            success=duration(served, queued + computed),
            fail=duration(sum(one.failed for one in counts), 0.0),
            queue=duration(served, queued),
            compute_input=duration(served, 0.0),
            compute_infer=duration(served, computed),
            compute_output=duration(served, 0.0),
        ),
        batch_stats=list(_batches(counts)),
    )


def _batches(counts: list[VariantCounters]) -> Iterator[pb.InferBatchStatistics]:
    for size in sorted({size for one in counts for size in one.sizes}):
        seconds = sum(one.computed_by_size.get(size, 0.0) for one in counts)
        yield batch_statistics(size, sum(one.sizes[size] for one in counts), seconds)


def in_force(host: Host, application: str) -> list[Servable]:
    """The application's variants that are ready on some device."""
    return [
        one
        for station in host.stations.values()
        for one in station.device.hosting.serving.warm
        if one.model.application == application
    ]
