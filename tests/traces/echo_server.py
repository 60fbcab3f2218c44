"""A real gRPC server that answers ModelInfer as a test tells it to, and a small repository of which it could be."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc
import numpy as np

from tidewise.core.files import digest
from tidewise.core.outcome import REASON_KEY
from tidewise.core.repository import MeasuredAccuracy, format_accuracy
from tidewise.proto import inference_pb2 as pb

APPLICATION = """
name = "letters"
slo_ms = 20000.0
[[inputs]]
name = "x"
datatype = "FP32"
shape = [4]
[[outputs]]
name = "scores"
datatype = "FP32"
shape = [4]
[test_data]
file = "test.npz"
labels = "labels"
output = "scores"
[[variants]]
name = "cheap"
version = 1
[[variants]]
name = "top"
version = 2
"""


def make_repository(root: Path, samples: int = 8) -> Path:
    """An application `letters` whose right answer to every test sample is the sample itself: cheap .8, top .9."""
    folder = root / "letters"
    for name in ("cheap", "top"):
        (folder / name).mkdir(parents=True)
        (folder / name / "model.onnx").write_bytes(name.encode())
    (folder / "application.toml").write_text(APPLICATION)
    labels = np.arange(samples) % 4
    np.savez(folder / "test.npz", x=np.eye(4, dtype=np.float32)[labels], labels=labels)
    digests = {name: digest(folder / name / "model.onnx") for name in ("cheap", "top")}
    measured = {"cheap": MeasuredAccuracy(80, 100, digests["cheap"]), "top": MeasuredAccuracy(90, 100, digests["top"])}
    (folder / "accuracy.json").write_text(format_accuracy(measured))
    return root


@dataclass(frozen=True)
class Refusal:
    """Answer with this status; ``reason`` travels as trailing metadata unless it is empty."""

    status: grpc.StatusCode
    reason: str = ""
    message: str = "no"


Behaviour = Callable[[pb.ModelInferRequest], "pb.ModelInferResponse | Refusal"]


def echo(request: pb.ModelInferRequest, variant: str = "top") -> pb.ModelInferResponse:
    """The input as the output, said to come from a variant."""
    response = pb.ModelInferResponse(model_name=request.model_name, model_version="2", id=request.id)
    response.outputs.add(name="scores", datatype="FP32", shape=request.inputs[0].shape)
    response.raw_output_contents.append(request.raw_input_contents[0])
    response.parameters["variant"].string_param = variant
    response.parameters["worker"].string_param = "big-0"
    response.parameters["plan_version"].int64_param = 7
    response.parameters["queue_us"].int64_param = 1500
    response.parameters["compute_us"].int64_param = 2500
    return response


def slow(seconds: float) -> Behaviour:
    """Echo after a while."""

    def behave(request: pb.ModelInferRequest) -> pb.ModelInferResponse:
        time.sleep(seconds)
        return echo(request)

    return behave


def refuse(status: grpc.StatusCode, reason: str = "", message: str = "no") -> Behaviour:
    """The same refusal to everyone."""
    return lambda request: Refusal(status, reason, message)


class Server:
    """Serves a behaviour on 127.0.0.1; remembers the requests it got."""

    def __init__(self, behaviour: Behaviour = echo, threads: int = 32) -> None:
        self.behaviour = behaviour
        self.requests: list[pb.ModelInferRequest] = []
        self.timeouts: list[float] = []
        self._lock = threading.Lock()
        self._server = grpc.server(ThreadPoolExecutor(threads))
        handler = grpc.unary_unary_rpc_method_handler(
            self._infer,
            request_deserializer=pb.ModelInferRequest.FromString,
            response_serializer=pb.ModelInferResponse.SerializeToString,
        )
        methods = {"ModelInfer": handler}
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("inference.GRPCInferenceService", methods),)
        )
        self.port = self._server.add_insecure_port("127.0.0.1:0")

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop(0).wait()

    def _infer(self, request: pb.ModelInferRequest, context: Any) -> pb.ModelInferResponse:
        with self._lock:
            self.requests.append(request)
            self.timeouts.append(context.time_remaining())
        found = self.behaviour(request)
        if isinstance(found, Refusal):
            if found.reason:
                context.set_trailing_metadata(((REASON_KEY, found.reason),))
            context.abort(found.status, found.message)
        assert isinstance(found, pb.ModelInferResponse)
        return found
