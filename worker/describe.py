"""What a worker process says of what it serves: metadata, configuration, statistics, as Triton's clients ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tidewise import __version__
from tidewise.core.application import TensorSpec
from tidewise.proto import inference_pb2 as pb
from tidewise.proto import model_config_pb2 as config_pb
from tidewise.worker.counters import VariantCounters
from tidewise.worker.host import Host, Served
from tidewise.worker.servable import Servable

PLATFORM = "onnxruntime_onnx"
EXTENSIONS = ("model_configuration", "statistics")
NANO = 1_000_000_000


def server_metadata() -> pb.ServerMetadataResponse:
    """Who answers."""
    return pb.ServerMetadataResponse(name="tidewise", version=__version__, extensions=EXTENSIONS)


def metadata(served: Served, ready: Iterable[int]) -> pb.ModelMetadataResponse:
    """An application's tensors with their batch axis, and the versions of its variants that are ready here."""
    application = served.application
    return pb.ModelMetadataResponse(
        name=application.name,
        versions=[str(version) for version in sorted(ready)],
        platform=PLATFORM,
        inputs=[_tensor(one) for one in application.inputs],
        outputs=[_tensor(one) for one in application.outputs],
        properties={"slo_ms": f"{application.slo * 1e3:g}"},
    )


def _tensor(spec: TensorSpec) -> pb.ModelMetadataResponse.TensorMetadata:
    return pb.ModelMetadataResponse.TensorMetadata(name=spec.name, datatype=spec.datatype, shape=[-1, *spec.shape])


def config(served: Served, host: Host) -> pb.ModelConfigResponse:
    """An application as Triton's configuration has it; the batching rule and the queue bound are parameters."""
    application = served.application
    found = config_pb.ModelConfig(
        name=application.name,
        platform=PLATFORM,
        backend="onnxruntime",
        max_batch_size=max((one.cap for one in in_force(host, application.name)), default=0),
        input=[
            config_pb.ModelInput(name=one.name, data_type=_data_type(one), dims=one.shape) for one in application.inputs
        ],
        output=[
            config_pb.ModelOutput(name=one.name, data_type=_data_type(one), dims=one.shape)
            for one in application.outputs
        ],
        dynamic_batching=config_pb.ModelDynamicBatching(),
    )
    for name, value in host.effective.items():
        found.parameters[name].string_value = value
    return pb.ModelConfigResponse(config=found)


def _data_type(spec: TensorSpec) -> str:
    return f"TYPE_{spec.datatype}"


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
            success=_duration(served, queued + computed),
            fail=_duration(sum(one.failed for one in counts), 0.0),
            queue=_duration(served, queued),
            compute_input=_duration(served, 0.0),
            compute_infer=_duration(served, computed),
            compute_output=_duration(served, 0.0),
        ),
        batch_stats=list(_batches(counts)),
    )


def _batches(counts: list[VariantCounters]) -> Iterator[pb.InferBatchStatistics]:
    for size in sorted({size for one in counts for size in one.sizes}):
        number = sum(one.sizes[size] for one in counts)
        seconds = sum(one.computed_by_size.get(size, 0.0) for one in counts)
        yield pb.InferBatchStatistics(
            batch_size=size,
            compute_input=_duration(number, 0.0),
            compute_infer=_duration(number, seconds),
            compute_output=_duration(number, 0.0),
        )


def _duration(count: int, seconds: float) -> pb.StatisticDuration:
    return pb.StatisticDuration(count=count, ns=round(seconds * NANO))


def in_force(host: Host, application: str) -> list[Servable]:
    """The application's variants that are ready on some device."""
    return [
        one
        for station in host.stations.values()
        for one in station.device.hosting.serving.warm
        if one.model.application == application
    ]
