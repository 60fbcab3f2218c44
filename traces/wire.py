"""Requests put together from parts, and answers read: the wire as replay sees it.

A request is three pieces in the order of its fields, the first and the last made once and kept: the application's
name | id and deadline | tensors. Serialised messages may be joined, so the joined bytes are one ModelInferRequest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidewise.core.datatype import DATATYPES
from tidewise.proto import inference_pb2 as pb

METHOD = "/inference.GRPCInferenceService/ModelInfer"
DEADLINE_PARAMETER = "deadline_ms"


def head(application: str) -> bytes:
    """The first piece."""
    return pb.ModelInferRequest(model_name=application).SerializeToString()


def middle(query_id: str, deadline: float) -> bytes:
    """The second piece; the deadline (seconds from now) goes as whole milliseconds, rounded down, at least 1."""
    request = pb.ModelInferRequest(id=query_id)
    request.parameters[DEADLINE_PARAMETER].int64_param = max(1, int(deadline * 1e3))
    return request.SerializeToString()


@dataclass(frozen=True, slots=True)
class Answer:
    """What is kept of a ModelInferResponse; times in seconds, ``scores`` the asked-for output's row if it came."""

    variant: str
    worker: str
    plan_version: int
    queued: float
    computed: float
    scores: NDArray[np.generic] | None


def read_answer(data: bytes, output: str) -> Answer:
    """Read a serialised answer; servers other than Tidewise leave most of it empty.

    Without a ``variant`` parameter the model version stands in for it. Raises DecodeError if it is no answer.
    """
    response = pb.ModelInferResponse.FromString(data)
    given = response.parameters
    return Answer(
        variant=given["variant"].string_param if "variant" in given else response.model_version,
        worker=given["worker"].string_param if "worker" in given else "",
        plan_version=given["plan_version"].int64_param if "plan_version" in given else 0,
        queued=given["queue_us"].int64_param / 1e6 if "queue_us" in given else 0.0,
        computed=given["compute_us"].int64_param / 1e6 if "compute_us" in given else 0.0,
        scores=_scores(response, output),
    )


def _scores(response: pb.ModelInferResponse, output: str) -> NDArray[np.generic] | None:
    for place, tensor in enumerate(response.outputs):
        if tensor.name == output and tensor.datatype in DATATYPES:
            shape = tuple(tensor.shape)
            if place < len(response.raw_output_contents):
                flat = np.frombuffer(response.raw_output_contents[place], DATATYPES[tensor.datatype])
            elif tensor.datatype == "FP32":
                flat = np.array(tensor.contents.fp32_contents, dtype=np.float32)
            else:
                return None
            return flat.reshape(shape) if flat.size == int(np.prod(shape)) else None
    return None
