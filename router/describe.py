"""What Triton's and KServe's clients ask about an application, as messages made of the table and the statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tidewise import __version__
from tidewise.core.application import Application, TensorSpec, Variant
from tidewise.core.cluster import DEFAULT_BATCH_SIZES
from tidewise.proto import inference_pb2 as pb
from tidewise.proto import model_config_pb2 as config_pb
from tidewise.router.statistics import Figures, Statistics
from tidewise.router.table import RoutingTable

PLATFORM = "onnxruntime_onnx"
EXTENSIONS = ("model_configuration", "statistics", "model_repository")


def server_metadata() -> pb.ServerMetadataResponse:
    """Name, version, and which extensions of the protocol are spoken."""
    return pb.ServerMetadataResponse(name="tidewise", version=__version__, extensions=EXTENSIONS)


def model_metadata(application: Application, variants: Iterable[Variant]) -> pb.ModelMetadataResponse:
    """Tensors with their batch axis; ``variants`` are those asked about, as versions."""
    return pb.ModelMetadataResponse(
        name=application.name,
        versions=[str(one.version) for one in variants],
        platform=PLATFORM,
        inputs=[_tensor(one) for one in application.inputs],
        outputs=[_tensor(one) for one in application.outputs],
        properties={
            "slo_ms": f"{application.slo * 1e3:g}",
            "variants": ",".join(f"{one.version}={one.name}" for one in application.variants),
        },
    )


def model_config(application: Application) -> pb.ModelConfigResponse:
    """The part of Triton's configuration that its clients use; shapes without the batch axis."""
    config = config_pb.ModelConfig(
        name=application.name,
        platform=PLATFORM,
        backend="onnxruntime",
        max_batch_size=_max_batch(application),
        input=[
            config_pb.ModelInput(name=one.name, data_type=_data_type(one), dims=one.shape) for one in application.inputs
        ],
        output=[
            config_pb.ModelOutput(name=one.name, data_type=_data_type(one), dims=one.shape)
            for one in application.outputs
        ],
        dynamic_batching=config_pb.ModelDynamicBatching(),
    )
    config.parameters["slo_ms"].string_value = f"{application.slo * 1e3:g}"
    return pb.ModelConfigResponse(config=config)


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


def _tensor(spec: TensorSpec) -> pb.ModelMetadataResponse.TensorMetadata:
    return pb.ModelMetadataResponse.TensorMetadata(name=spec.name, datatype=spec.datatype, shape=(-1, *spec.shape))


def _data_type(spec: TensorSpec) -> Any:
    return config_pb.DataType.Value(f"TYPE_{spec.datatype}")


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
            success=_duration(count, figures.total.total),
            fail=_duration(0, 0.0),
            queue=_duration(count, figures.queued.total),
            compute_input=_duration(count, 0.0),
            compute_infer=_duration(count, figures.computed.total),
            compute_output=_duration(count, 0.0),
        ),
        batch_stats=[
            pb.InferBatchStatistics(
                batch_size=size,
                compute_input=_duration(queries, 0.0),
                compute_infer=_duration(queries, computed),
                compute_output=_duration(queries, 0.0),
            )
            for size, (queries, computed) in sorted(figures.batches.items())
        ],
    )


def _duration(count: int, seconds: float) -> pb.StatisticDuration:
    return pb.StatisticDuration(count=count, ns=round(seconds * 1e9))
