"""The Open Inference Protocol of one worker process: inference.GRPCInferenceService over its devices."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, NoReturn

import grpc

from tidewise.core.loss import Loss
from tidewise.core.metrics_catalogue import UNKNOWN
from tidewise.core.outcome import REASON_KEY, Reason
from tidewise.proto import inference_pb2 as pb
from tidewise.proto import inference_pb2_grpc
from tidewise.proto.describe import server_metadata
from tidewise.proto.status import CODES
from tidewise.worker import describe
from tidewise.worker.admission import admit, find_pin
from tidewise.worker.answer import Refused
from tidewise.worker.call import Call
from tidewise.worker.host import Host, Served
from tidewise.worker.replies import encode
from tidewise.worker.streaming import in_order
from tidewise.worker.tally import Tally

Context = grpc.aio.ServicerContext[Any, Any]
GIVEN_UP = Refused(Reason.CANCELLED, "the caller gave the query up")
TOO_LATE = Refused(Reason.DEADLINE, "the deadline passed before an answer was there")


class InferenceService(inference_pb2_grpc.GRPCInferenceServiceServicer):
    """Answers queries and questions about what the process serves.

    Every query is counted in ``tally`` once, as it ends; ``on_loss`` is told of each that is not answered.
    """

    def __init__(
        self,
        host: Host,
        clock: Callable[[], float],
        tally: Tally | None = None,
        on_loss: Callable[[Loss], None] = lambda loss: None,
    ) -> None:
        self._host = host
        self._clock = clock
        self._tally = tally or Tally()
        self._on_loss = on_loss

    async def ModelInfer(self, request: pb.ModelInferRequest, context: Context) -> pb.ModelInferResponse:
        """Queue the query, wait for its end."""
        ended = await self._infer(request, Call.of(context), context.time_remaining())
        if isinstance(ended, Refused):
            await abort(context, ended)
        return ended

    async def ModelStreamInfer(
        self, requests: AsyncIterator[pb.ModelInferRequest], context: Context
    ) -> AsyncIterator[pb.ModelStreamInferResponse]:
        """Queue queries as they come and answer them in that order. A failed one does not end the stream."""
        call = Call.of(context)

        async def one(request: pb.ModelInferRequest) -> pb.ModelStreamInferResponse:
            return streamed(request, await self._infer(request, call, None))

        async for response in in_order(requests, one):
            yield response

    async def _infer(
        self, request: pb.ModelInferRequest, call: Call, remaining: float | None
    ) -> pb.ModelInferResponse | Refused:
        arrived = self._clock()
        admitted = admit(self._host, request, call.device, remaining)
        if isinstance(admitted, Refused):
            named = call.device or ""
            return self._lost(request, call, admitted, named if named in self._host.stations else "")
        station, decoded, deadline = admitted.station, admitted.decoded, arrived + admitted.budget
        query_id, future = station.submit(admitted.lane, deadline, decoded.rows, decoded.inputs, decoded.outputs)
        try:
            ended = await future
        except asyncio.CancelledError:
            station.cancel(query_id)
            self._lost(request, call, TOO_LATE if self._clock() >= deadline else GIVEN_UP, station.name)
            raise
        if isinstance(ended, Refused):
            return self._lost(request, call, ended, station.name)
        response, now = encode(request, ended, station.name), self._clock()
        name, device_type = admitted.lane.application, station.device_type.name
        self._tally.answered(name, device_type, ended, now - arrived, now <= deadline)
        return response

    def _lost(self, request: pb.ModelInferRequest, call: Call, refused: Refused, worker: str) -> Refused:
        """Count and tell a query's end without an answer."""
        label = request.model_name if request.model_name in self._host.catalogue else UNKNOWN
        self._tally.lost(label, refused.reason)
        self._on_loss(call.loss(request, refused, label, worker))
        return refused

    async def ServerLive(self, request: pb.ServerLiveRequest, context: Context) -> pb.ServerLiveResponse:
        """The process runs."""
        return pb.ServerLiveResponse(live=True)

    async def ServerReady(self, request: pb.ServerReadyRequest, context: Context) -> pb.ServerReadyResponse:
        """Some device has variants in force."""
        return pb.ServerReadyResponse(ready=self._host.ready)

    async def ModelReady(self, request: pb.ModelReadyRequest, context: Context) -> pb.ModelReadyResponse:
        """Some device has the application, or the pinned variant, in force."""
        served, pin = await self._find(request.name, request.version, context)
        ready = self._host.ready and self._host.served(served.application.name, pin)
        return pb.ModelReadyResponse(ready=ready)

    async def ServerMetadata(self, request: pb.ServerMetadataRequest, context: Context) -> pb.ServerMetadataResponse:
        """Name and version."""
        return server_metadata()

    async def ModelMetadata(self, request: pb.ModelMetadataRequest, context: Context) -> pb.ModelMetadataResponse:
        """The application's tensors."""
        served, _ = await self._find(request.name, request.version, context)
        ready = {one.version for one in describe.in_force(self._host, request.name)}
        return describe.metadata(served, ready)

    async def ModelConfig(self, request: pb.ModelConfigRequest, context: Context) -> pb.ModelConfigResponse:
        """The application's configuration."""
        served, _ = await self._find(request.name, request.version, context)
        return describe.config(served, self._host)

    async def ModelStatistics(self, request: pb.ModelStatisticsRequest, context: Context) -> pb.ModelStatisticsResponse:
        """Counts and times by variant; of all applications if none is named."""
        application, pin = request.name, ""
        if application:
            served, pin = await self._find(application, request.version, context)
            application = served.application.name
        offset = time.time() - self._clock()
        return describe.statistics(
            self._host,
            lambda name, variant: application in ("", name) and pin in ("", variant),
            lambda reading: reading + offset,
        )

    async def RepositoryIndex(self, request: pb.RepositoryIndexRequest, context: Context) -> pb.RepositoryIndexResponse:
        """The variants in force here."""
        response = pb.RepositoryIndexResponse()
        for name in self._host.catalogue:
            for version in sorted({one.version for one in describe.in_force(self._host, name)}):
                response.models.add(name=name, version=str(version), state="READY")
        return response

    async def _find(self, name: str, version: str, context: Context) -> tuple[Served, str]:
        served = self._host.catalogue.get(name)
        if served is None:
            await abort(context, Refused(Reason.UNKNOWN_APPLICATION, f"there is no application {name!r}"))
        pin = find_pin(served.application, version)
        if isinstance(pin, Refused):
            await abort(context, pin)
        return served, pin


async def abort(context: Context, refused: Refused) -> NoReturn:
    """End the call with the refusal's status, sentence and machine-readable reason."""
    try:
        await context.abort(CODES[refused.reason], refused.text, ((REASON_KEY, refused.reason.value),))
    except grpc.aio.InternalError as error:  # the caller hung up a moment ago; there is nobody to tell
        raise asyncio.CancelledError from error
    raise AssertionError("abort returned")


def streamed(request: pb.ModelInferRequest, ended: pb.ModelInferResponse | Refused) -> pb.ModelStreamInferResponse:
    """A query's end as an element of the stream; a refused one carries its id and its reason as a parameter."""
    if isinstance(ended, pb.ModelInferResponse):
        return pb.ModelStreamInferResponse(infer_response=ended)
    response = pb.ModelInferResponse(model_name=request.model_name, id=request.id)
    response.parameters[REASON_KEY].string_param = ended.reason.value
    return pb.ModelStreamInferResponse(error_message=ended.text, infer_response=response)
