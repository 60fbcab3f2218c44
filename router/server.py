"""The router process: parts put together, started, and drained when it is told to go."""

from __future__ import annotations

import asyncio
import logging
import random
import signal
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import grpc

from tidewise.core.cluster import Limits
from tidewise.core.errors import ConfigError
from tidewise.core.routes import RoutingSnapshot
from tidewise.dashboard.loss_log import LossLog
from tidewise.native.data_plane import data_plane
from tidewise.router.agent import Agent
from tidewise.router.forward import Forwarder
from tidewise.router.http import serve_http
from tidewise.router.listener import Listener
from tidewise.router.plane import Plane
from tidewise.router.plane_listener import PlaneListener
from tidewise.router.plane_native import NativePlane
from tidewise.router.readiness import Readiness
from tidewise.router.service import HealthService, InferenceService
from tidewise.router.stream import Streams
from tidewise.router.telemetry import Telemetry

log = logging.getLogger("tidewise.router")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a router is run.

    ``controller``, ``listen`` and ``http`` are HOST:PORT (port 0 picks a free one; no ``http``: none). After SIGTERM it
    says it is not ready but serves for ``drain_delay`` seconds more, so that load balancers notice, then lets queries
    in flight end for at most ``grace`` seconds. ``max_message`` holds until the first snapshot brings its own.
    ``metrics`` is where Prometheus metrics are served, nowhere if None. ``data_plane`` is "native" (C++) or "python".
    """

    controller: str
    listen: str = "127.0.0.1:8001"
    http: str | None = "127.0.0.1:8000"
    max_message: int = Limits().max_message
    drain_delay: float = 1.0
    grace: float = 30.0
    data_plane: str = "python"
    metrics: tuple[str, int] | None = None


class Router:
    """A router in this process and event loop."""

    def __init__(self, settings: Settings, generator: random.Random | None = None) -> None:
        self._settings = settings
        self.forwarder: Plane = (
            NativePlane(data_plane()) if settings.data_plane == "native" else Forwarder(generator or random.Random())
        )
        self.readiness = Readiness(self.forwarder)
        self.telemetry = Telemetry(self.forwarder, self.is_connected)
        self._losses = LossLog(log)
        self.forwarder.on_loss = self._losses.lost
        self.forwarder.on_untold = self._losses.untold
        self._streams = Streams(self.forwarder)
        service = InferenceService(self.forwarder, self.readiness, self._streams)
        handlers = [service.handler(), HealthService(self.readiness).handler()]
        self._listener = _listener(handlers, settings.listen, self.forwarder)
        self._http: asyncio.Server | None = None
        self._agent: Agent | None = None
        self._attached: asyncio.Task[None] | None = None
        self.metrics_port: int | None = None

    @property
    def address(self) -> str:
        """HOST:PORT of the gRPC port, once started."""
        return f"{self._listener.host}:{self._listener.port}"

    @property
    def http_port(self) -> int | None:
        """The HTTP port, once started; None if there is none."""
        return None if self._http is None else int(self._http.sockets[0].getsockname()[1])

    def is_connected(self) -> bool:
        """Whether the controller is attached to now."""
        return self._agent is not None and self._agent.connected

    async def start(self) -> None:
        """Listen, and attach to the controller. Raises ConfigError if a port cannot be had."""
        if self._settings.metrics is not None:
            self.metrics_port = self.telemetry.metrics.serve(self._settings.metrics[1], self._settings.metrics[0])
        await self._listener.start(self._settings.max_message)
        if self._settings.http is not None:
            self._http = await self._listen_http(*split_address(self._settings.http))
        name = f"router-{uuid.uuid4().hex[:12]}"
        self._agent = Agent(self.forwarder, self._settings.controller, name, self.address, self._installed)
        self._attached = asyncio.create_task(self._agent.run())
        log.info(
            "router is listening",
            extra={
                "address": self.address,
                "http_port": self.http_port,
                "metrics_port": self.metrics_port,
                "data_plane": self._settings.data_plane,
            },
        )

    async def attached_until(self, leave: asyncio.Event) -> None:
        """Wait for the event. Raises whatever broke the attachment to the controller, which is not meant to end."""
        leaving = asyncio.create_task(leave.wait())
        tasks = {leaving} if self._attached is None else {leaving, self._attached}
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def drain(self) -> None:
        """Say not ready, serve on for the delay, let what is in flight end, stop."""
        self.readiness.drain()
        if self._agent is not None:
            self._agent.leaving = True
        log.info("draining")
        await asyncio.sleep(self._settings.drain_delay)
        self._streams.finish()
        await self._listener.stop(self._settings.grace)
        if self._agent is not None:
            await self._agent.flush()
        await self.stop()

    async def stop(self) -> None:
        """Stop at once."""
        if self._attached is not None:
            self._attached.cancel()
            with suppress(asyncio.CancelledError):
                await self._attached
        await self._listener.stop(None)
        if self._http is not None:
            self._http.close()
        await self.forwarder.close()
        self._losses.close()
        self.telemetry.metrics.close()

    async def _installed(self, snapshot: RoutingSnapshot) -> None:
        self.telemetry.installed(snapshot)
        await self._listener.relimit(snapshot.max_message)

    async def _listen_http(self, host: str, port: int) -> asyncio.Server:
        try:
            return await serve_http(host, port, self.readiness)
        except OSError as error:
            await self._listener.stop(None)
            raise ConfigError(f"cannot listen for HTTP at {host}:{port}: {error.strerror}") from error


def _listener(
    handlers: Sequence[grpc.GenericRpcHandler[Any, Any]], listen: str, plane: Plane
) -> Listener | PlaneListener:
    if isinstance(plane, NativePlane):
        return PlaneListener(handlers, *split_address(listen), plane)
    return Listener(handlers, *split_address(listen))


async def serve(settings: Settings) -> None:
    """Run a router until SIGTERM or SIGINT, which drain it, or until cancelled, which stops it at once."""
    router = Router(settings)
    leave = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, leave.set)
    await router.start()
    try:
        await router.attached_until(leave)
        await router.drain()
    finally:
        await router.stop()


def split_address(address: str) -> tuple[str, int]:
    """HOST:PORT as a pair. Raises ConfigError."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"an address must be HOST:PORT, not {address!r}")
    return host or "127.0.0.1", int(port)
