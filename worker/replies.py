"""An answer into a ModelInferResponse."""

from __future__ import annotations

from tidewise.core.datatype import NAMES
from tidewise.proto import inference_pb2 as pb
from tidewise.worker.answer import Answer


def encode(request: pb.ModelInferRequest, answer: Answer, worker: str) -> pb.ModelInferResponse:
    """The response, outputs raw; its parameters say who answered, how fast, and under which plan."""
    response = pb.ModelInferResponse(model_name=request.model_name, model_version=str(answer.version), id=request.id)
    parameters = response.parameters
    parameters["variant"].string_param = answer.variant
    parameters["worker"].string_param = worker
    parameters["plan_version"].int64_param = answer.plan_version
    parameters["queue_us"].int64_param = round(answer.queued * 1e6)
    parameters["compute_us"].int64_param = round(answer.computed * 1e6)
    parameters["batch_size"].int64_param = answer.batch
    for name, value in answer.outputs.items():
        response.outputs.add(name=name, datatype=NAMES[value.dtype], shape=value.shape)
        response.raw_output_contents.append(value.tobytes())
    return response
