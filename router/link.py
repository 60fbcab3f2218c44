"""The connection to one worker process: its channel, whether it can be trusted, and the probing that finds out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

import grpc
from grpc_health.v1 import health_pb2

from tidewise.router.health import Event, Health, State, step

INFER = "/inference.GRPCInferenceService/ModelInfer"
CHECK = "/grpc.health.v1.Health/Check"
PROBE_SECONDS = 0.5  # a process that takes longer to say that it is healthy is not
CLOSE_SECONDS = 600.0  # for queries in flight when a worker leaves the table; their deadlines end them sooner
# Retries are the forwarder's, within the query's budget; reconnecting must not wait longer than probing does.
OPTIONS: list[tuple[str, int]] = [
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.client_idle_timeout_ms", 2**31 - 1),  # never: a connection given up for idleness would look lost
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.max_send_message_length", -1),
]
log = logging.getLogger("tidewise.router")


class Link:
    """One address. ``changed`` is called whenever it comes into or goes out of routing."""

    def __init__(self, address: str, limit: int, changed: Callable[[], None]) -> None:
        self.address = address
        self.health = Health()
        self.heard = 0.0  # when a query was last answered from there
        self._stopped = False
        self._changed = changed
        options = [*OPTIONS, ("grpc.max_receive_message_length", limit)]
        self._channel = grpc.aio.insecure_channel(address, options=options)
        self.infer: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(INFER)  # type: ignore[call-arg]
        self._check = self._channel.unary_unary(
            CHECK,
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        self._prober: asyncio.Task[None] | None = None
        self._watcher = asyncio.create_task(self._watch())

    def learn(self, event: Event) -> None:
        """Take note of something learnt of the process, and start probing it if there is doubt."""
        if self._stopped:
            return
        before, self.health = self.health, step(self.health, event, time.monotonic())
        if self.health.state is not State.IN and (self._prober is None or self._prober.done()):
            self._prober = asyncio.create_task(self._probe())
        if before.routed != self.health.routed:
            log.info("worker process is %s", self.health.state, extra={"address": self.address, "because": event})
            self._changed()

    async def close(self, grace: float | None = CLOSE_SECONDS) -> None:
        """Close the connection once the queries in flight have ended, after ``grace`` seconds at the latest."""
        self.stop()
        await self._channel.close(grace)

    def stop(self) -> None:
        """Neither watch nor probe any more."""
        self._stopped = True
        self._watcher.cancel()
        if self._prober is not None:
            self._prober.cancel()

    async def _watch(self) -> None:
        """Keep the connection warm, and learn of its loss without a query having to be lost for it."""
        up = grpc.ChannelConnectivity.READY
        state = self._channel.get_state(try_to_connect=True)
        while state is not grpc.ChannelConnectivity.SHUTDOWN:
            await self._channel.wait_for_state_change(state)
            before, state = state, self._channel.get_state(try_to_connect=True)
            if before is up or state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
                self.learn(Event.LOST)

    async def _probe(self) -> None:
        while self.health.probe_at is not None:
            await asyncio.sleep(self.health.probe_at - time.monotonic())
            self.learn(await self._ask())

    async def _ask(self) -> Event:
        try:
            reply = await self._check(health_pb2.HealthCheckRequest(), timeout=PROBE_SECONDS)
        except grpc.aio.AioRpcError as error:
            # A process without a health service still shows by saying so that it is alive.
            alive = error.code() is grpc.StatusCode.UNIMPLEMENTED
            return Event.ANSWERED if alive else Event.UNANSWERED
        serving = reply.status == health_pb2.HealthCheckResponse.SERVING
        return Event.ANSWERED if serving else Event.UNANSWERED
