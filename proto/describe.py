"""What Triton's and KServe's clients ask about a server and an application, as messages; routers and workers alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tidewise import __version__
from tidewise.core.application import Application, TensorSpec
from tidewise.proto import inference_pb2 as pb
from tidewise.proto import model_config_pb2 as config_pb

PLATFORM = "onnxruntime_onnx"
EXTENSIONS = ("model_configuration", "statistics")  # not model_repository: loading is not for clients to ask
NANO = 1_000_000_000


def server_metadata() -> pb.ServerMetadataResponse:
    """Name, version, and which extensions of the protocol are spoken."""
    return pb.ServerMetadataResponse(name="tidewise", version=__version__, extensions=EXTENSIONS)


def model_metadata(
    application: Application, versions: Iterable[int], properties: Mapping[str, str] | None = None
) -> pb.ModelMetadataResponse:
    """Tensors with their batch axis, these versions, the SLO, and whatever else there is to say."""
    return pb.ModelMetadataResponse(
        name=application.name,
        versions=[str(one) for one in versions],
        platform=PLATFORM,
        inputs=[_tensor(one) for one in application.inputs],
        outputs=[_tensor(one) for one in application.outputs],
        properties={"slo_ms": slo_ms(application), **(properties or {})},
    )


def model_config(application: Application, max_batch: int, parameters: Mapping[str, str]) -> pb.ModelConfigResponse:
    """The part of Triton's configuration that its clients use; shapes without the batch axis."""
    config = config_pb.ModelConfig(
        name=application.name,
        platform=PLATFORM,
        backend="onnxruntime",
        max_batch_size=max_batch,
        input=[
            config_pb.ModelInput(name=one.name, data_type=_data_type(one), dims=one.shape) for one in application.inputs
        ],
        output=[
            config_pb.ModelOutput(name=one.name, data_type=_data_type(one), dims=one.shape)
            for one in application.outputs
        ],
        dynamic_batching=config_pb.ModelDynamicBatching(),
    )
    for name, value in parameters.items():
        config.parameters[name].string_value = value
    return pb.ModelConfigResponse(config=config)


def slo_ms(application: Application) -> str:
    """The SLO as text."""
    return f"{application.slo * 1e3:g}"


def duration(count: int, seconds: float) -> pb.StatisticDuration:
    """So many queries took so long in all."""
    return pb.StatisticDuration(count=count, ns=round(seconds * NANO))


def batch_statistics(size: int, count: int, seconds: float) -> pb.InferBatchStatistics:
    """So many batches of this size took so long in all; nothing is spent on copying in and out."""
    nothing = duration(count, 0.0)
    return pb.InferBatchStatistics(
        batch_size=size, compute_input=nothing, compute_infer=duration(count, seconds), compute_output=nothing
    )


def _tensor(spec: TensorSpec) -> pb.ModelMetadataResponse.TensorMetadata:
    return pb.ModelMetadataResponse.TensorMetadata(name=spec.name, datatype=spec.datatype, shape=(-1, *spec.shape))


def _data_type(spec: TensorSpec) -> Any:
    return config_pb.DataType.Value(f"TYPE_{spec.datatype}")
