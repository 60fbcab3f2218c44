"""The gRPC services a router offers: inference.GRPCInferenceService and grpc.health.v1.Health."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2

from tidewise.core.application import Variant
from tidewise.proto import inference_pb2 as pb
from tidewise.proto.describe import server_metadata
from tidewise.router import describe
from tidewise.router.admission import find_entry, find_view
from tidewise.router.failure import Failure
from tidewise.router.plane import Plane
from tidewise.router.readiness import Readiness
from tidewise.router.stream import Streams
from tidewise.router.table import Entry

Context = grpc.aio.ServicerContext[Any, Any]
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
SERVICE_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN


async def refuse(context: Context, found: Failure) -> NoReturn:
    """End the call with this failure."""
    try:
        await context.abort(found.code, found.message, found.metadata)
    except grpc.aio.InternalError as error:  # the caller hung up a moment ago; there is nobody to tell
        raise asyncio.CancelledError from error
    raise AssertionError("abort returned")


class InferenceService:
    """The Open Inference Protocol; queries and answers pass as the bytes they came as."""

    def __init__(self, forwarder: Plane, readiness: Readiness, streams: Streams) -> None:
        self._forwarder = forwarder
        self._readiness = readiness
        self._streams = streams

    def handler(self) -> grpc.GenericRpcHandler[Any, Any]:
        """All methods, ready to be added to a server."""
        infer = grpc.unary_unary_rpc_method_handler(self.infer)
        stream = grpc.stream_stream_rpc_method_handler(self._streams.serve)
        methods = {
            "ServerLive": _unary(self.server_live, pb.ServerLiveRequest),
            "ServerReady": _unary(self.server_ready, pb.ServerReadyRequest),
            "ModelReady": _unary(self.model_ready, pb.ModelReadyRequest),
            "ServerMetadata": _unary(self.server_metadata, pb.ServerMetadataRequest),
            "ModelMetadata": _unary(self.model_metadata, pb.ModelMetadataRequest),
            "ModelConfig": _unary(self.model_config, pb.ModelConfigRequest),
            "ModelStatistics": _unary(self.model_statistics, pb.ModelStatisticsRequest),
            "RepositoryIndex": _unary(self.repository_index, pb.RepositoryIndexRequest),
            "ModelInfer": infer,
            "ModelStreamInfer": stream,
        }
        return grpc.method_handlers_generic_handler("inference.GRPCInferenceService", methods)

    async def infer(self, body: bytes, context: Context) -> bytes:
        """One query."""
        answer = await self._forwarder.forward(body, context.time_remaining(), context.invocation_metadata() or ())
        if isinstance(answer, Failure):
            await refuse(context, answer)
        return answer

    async def server_live(self, request: pb.ServerLiveRequest, context: Context) -> pb.ServerLiveResponse:
        """True for as long as anything answers."""
        return pb.ServerLiveResponse(live=True)

    async def server_ready(self, request: pb.ServerReadyRequest, context: Context) -> pb.ServerReadyResponse:
        """As readiness.py has it."""
        return pb.ServerReadyResponse(ready=self._readiness.ready())

    async def model_ready(self, request: pb.ModelReadyRequest, context: Context) -> pb.ModelReadyResponse:
        """Whether the application can be served now; false also for one that does not exist."""
        return pb.ModelReadyResponse(ready=self._readiness.serves(request.name, request.version))

    async def server_metadata(self, request: pb.ServerMetadataRequest, context: Context) -> pb.ServerMetadataResponse:
        """Name and version."""
        return server_metadata()

    async def model_metadata(self, request: pb.ModelMetadataRequest, context: Context) -> pb.ModelMetadataResponse:
        """Tensors and versions of an application."""
        entry, variants = await self._find(request.name, request.version, context)
        return describe.model_metadata(entry.application, variants)

    async def model_config(self, request: pb.ModelConfigRequest, context: Context) -> pb.ModelConfigResponse:
        """An application as Triton's configuration."""
        entry, _ = await self._find(request.name, request.version, context)
        return describe.model_config(entry.application)

    async def model_statistics(
        self, request: pb.ModelStatisticsRequest, context: Context
    ) -> pb.ModelStatisticsResponse:
        """What this router saw of one variant, of one application's, or of all."""
        await self._forwarder.refresh()
        names = [request.name] if request.name else sorted(self._forwarder.table.entries)
        response = pb.ModelStatisticsResponse()
        for name in names:
            entry, variants = await self._find(name, request.version, context)
            response.model_stats.extend(
                describe.model_statistics(entry.application, variants, self._forwarder.statistics)
            )
        return response

    async def repository_index(
        self, request: pb.RepositoryIndexRequest, context: Context
    ) -> pb.RepositoryIndexResponse:
        """Every variant and whether it is ready."""
        return describe.repository_index(self._forwarder.table, request.ready)

    async def _find(self, name: str, version: str, context: Context) -> tuple[Entry, Sequence[Variant]]:
        entry = find_entry(self._forwarder.table, name)
        if isinstance(entry, Failure):
            await refuse(context, entry)
        view = find_view(entry, version)
        if isinstance(view, Failure):
            await refuse(context, view)
        variants = entry.application.variants
        return entry, [one for one in variants if not version or version in (one.name, str(one.version))]


class HealthService:
    """grpc.health.v1: the empty name is the router, any other an application."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness

    def handler(self) -> grpc.GenericRpcHandler[Any, Any]:
        """Both methods, ready to be added to a server."""
        watch = grpc.unary_stream_rpc_method_handler(
            self.watch,
            request_deserializer=health_pb2.HealthCheckRequest.FromString,
            response_serializer=_serialise,
        )
        methods = {"Check": _unary(self.check, health_pb2.HealthCheckRequest), "Watch": watch}
        return grpc.method_handlers_generic_handler("grpc.health.v1.Health", methods)

    async def check(self, request: health_pb2.HealthCheckRequest, context: Context) -> health_pb2.HealthCheckResponse:
        """The status now; NOT_FOUND for a name that is no application."""
        status = self._status(request.service)
        if status == SERVICE_UNKNOWN:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"there is no service {request.service[:80]!r}")
        return health_pb2.HealthCheckResponse(status=status)

    async def watch(self, request: health_pb2.HealthCheckRequest, context: Context) -> None:
        """The status, again whenever it changes."""
        told = None
        while True:
            status = self._status(request.service)
            if status != told:
                with suppress(grpc.aio.InternalError):  # as in stream.py
                    await context.write(health_pb2.HealthCheckResponse(status=status))
            told = status
            await self._readiness.change()

    def _status(self, service: str) -> int:
        if service and not self._readiness.knows(service):
            return int(SERVICE_UNKNOWN)
        ready = self._readiness.serves(service) if service else self._readiness.ready()
        return int(SERVING if ready else NOT_SERVING)


def _unary(method: Callable[[Any, Context], Awaitable[Message]], request: type[Message]) -> Any:
    return grpc.unary_unary_rpc_method_handler(
        method, request_deserializer=request.FromString, response_serializer=_serialise
    )


def _serialise(message: Message) -> bytes:
    return message.SerializeToString()
