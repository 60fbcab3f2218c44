"""The client process of bench/worker.py: so many callers, each asking again as soon as it is answered."""

from __future__ import annotations

import asyncio
import time

import grpc

from tidewise.core.application import Application, TensorSpec
from tidewise.proto import inference_pb2 as pb
from tidewise.proto import inference_pb2_grpc
from tidewise.worker.tensors import Array, Tensors


def call(address: str, requests: list[bytes], window: int, share: int) -> float:
    """Seconds that ``window`` callers need for ``share`` queries each."""
    return asyncio.run(_call(address, [pb.ModelInferRequest.FromString(one) for one in requests], window, share))


async def _call(address: str, requests: list[pb.ModelInferRequest], window: int, share: int) -> float:
    async with grpc.aio.insecure_channel(address) as channel:
        stub = inference_pb2_grpc.GRPCInferenceServiceStub(channel)

        async def ask_on() -> None:
            for place in range(share):
                await stub.ModelInfer(requests[place % len(requests)])

        await stub.ServerLive(pb.ServerLiveRequest())
        began = time.perf_counter()
        await asyncio.gather(*(ask_on() for _ in range(window)))
        return time.perf_counter() - began


def request_of(application: Application, query: Tensors) -> bytes:
    request = pb.ModelInferRequest(model_name=application.name)
    for spec in application.inputs:
        request.inputs.append(_input(spec, query[spec.name]))
        request.raw_input_contents.append(query[spec.name].tobytes())
    return request.SerializeToString()


def _input(spec: TensorSpec, value: Array) -> pb.ModelInferRequest.InferInputTensor:
    return pb.ModelInferRequest.InferInputTensor(name=spec.name, datatype=spec.datatype, shape=value.shape)
