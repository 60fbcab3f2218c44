"""A worker process from start to drained end."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING

import grpc
from grpc_health.v1 import health_pb2_grpc

from tidewise.core.application import Application, Variant
from tidewise.core.errors import ConfigError, UnreachableError
from tidewise.dashboard.loss_log import LossLog
from tidewise.proto import inference_pb2_grpc
from tidewise.worker.agent import Agent
from tidewise.worker.following import Follower
from tidewise.worker.health import Health
from tidewise.worker.host import Host
from tidewise.worker.loader import VariantLoader
from tidewise.worker.measuring import Measurer
from tidewise.worker.service import InferenceService
from tidewise.worker.settings import WorkerSettings
from tidewise.worker.stations import front_name, make_stations
from tidewise.worker.store import ModelStore
from tidewise.worker.tally import Tally
from tidewise.worker.telemetry import Telemetry

if TYPE_CHECKING:
    from tidewise.worker.front import Front

log = logging.getLogger(__name__)

QUIET = 0.5  # seconds without an arrival after which a draining process believes that the routers know
DRAIN_LIMIT = 6.0  # seconds a process takes to drain at most
CHECK_EVERY = 0.05
GRACE = 1.0  # seconds for calls under way, once no more are taken
RECONNECT_SECONDS = (
    1.0  # between calls to a controller that is away; a restarted one waits for its workers longer than that
)


async def serve(settings: WorkerSettings) -> None:
    """Run the process's devices until SIGTERM, SIGINT or cancellation, then drain. Raises ConfigError."""
    process = await WorkerProcess.start(settings)
    gc.freeze()  # what is imported by now stays; a collection that walks it holds every query up for 20 ms
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(ValueError, NotImplementedError):  # only the main thread may
            loop.add_signal_handler(number, stop.set)
    try:
        await stop.wait()
    finally:
        await process.drain()


class WorkerProcess:
    """A running worker process; ``address`` is where routers reach it."""

    def __init__(self, settings: WorkerSettings) -> None:
        loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        store = ModelStore(settings.repository, settings.state / "models", self._fetch)
        self._loader = VariantLoader(store)
        self.host = Host(
            make_stations(settings.devices, settings.policy, self._loader.load, self._on_change), settings.effective
        )
        self.health = Health(self.host)
        self._losses = LossLog(log)
        tally = Tally()
        self.server = grpc.aio.server(options=message_options(settings.limits.max_message))
        inference_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(
            InferenceService(self.host, loop.time, tally, self._losses.lost), self.server
        )
        health_pb2_grpc.add_HealthServicer_to_server(self.health.servicer, self.server)
        self._settings = settings
        self._front = self._native_front() if front_name() == "native" else None
        self._port = _bind(self.server, settings.listen) if self._front is None else self._front.port
        self.agent = Agent(
            self.host,
            Follower(self.host, settings.profile, settings.limits.batch_share),
            self._connect,
            lambda: self.address,
            loop.time,
        )
        self._measurer = Measurer(self.host, store, settings.state, self.agent.learn, self.agent.tell)
        self.agent.measure, self.agent.unprofiled = self._measurer.ask, self._measurer.unprofiled
        self.telemetry = Telemetry(
            self.host,
            lambda: tally if self._front is None else self._front.whole(tally),
            lambda: self.agent.connected,
            lambda: self.agent.stretches,
        )
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def address(self) -> str:
        """HOST:PORT at which routers reach this process. Raises UnreachableError if that cannot be told now."""
        return _advertised(self._settings, self._port)

    @classmethod
    async def start(cls, settings: WorkerSettings) -> WorkerProcess:
        """Listen, and attach to the controller in the background."""
        process = cls(settings)
        port = None
        if settings.metrics is not None:
            port = process.telemetry.metrics.serve(settings.metrics[1], settings.metrics[0])
        await process.health.refresh()
        await process.server.start()
        if process._front is not None:
            process._front.start()
        process._tasks = [asyncio.create_task(process.agent.run()), asyncio.create_task(process._watch())]
        log.info(
            "worker process up",
            extra={"port": process._port, "devices": list(settings.devices), "metrics_port": port},
        )
        return process

    async def drain(self) -> None:
        """Announce the end, serve until nothing comes any more and nothing is left, stop."""
        log.info("draining")
        self.host.drain()
        await self.health.refresh()
        await self._until_quiet()
        if self._front is not None:
            await self._front.drain(GRACE)
        await self.server.stop(GRACE)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._measurer.close()
        if self._front is not None:
            await self._front.close()
        self.host.close()
        self._loader.close()
        await self.agent.close()
        self._losses.close()
        self.telemetry.metrics.close()
        log.info("drained")

    async def _until_quiet(self) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + DRAIN_LIMIT
        seen, since = self.host.arrivals, loop.time()
        while loop.time() < end:
            if self.host.arrivals != seen or not self.host.idle:
                seen, since = self.host.arrivals, loop.time()
            elif loop.time() - since >= QUIET:
                return
            await asyncio.sleep(CHECK_EVERY)

    def _on_change(self) -> None:
        self._changed.set()
        self.telemetry.changed()
        self.agent.tell()

    async def _watch(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self.health.refresh()

    def _native_front(self) -> Front:
        from tidewise.worker.front import Front  # only where it is built

        settings = self._settings
        return Front(self.host, self.server, settings.listen, settings.limits.max_message, self._losses)

    def _connect(self) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(self._settings.join, options=attach_options(self._settings.limits.max_message))

    def _fetch(self, application: Application, variant: Variant) -> AsyncIterator[bytes]:
        return self.agent.fetch(application, variant)


def message_options(limit: int) -> list[tuple[str, int]]:
    """gRPC options that let messages of ``limit`` bytes through, both ways, and refuse to share a port."""
    return [
        ("grpc.max_receive_message_length", limit),
        ("grpc.max_send_message_length", limit),
        ("grpc.so_reuseport", 0),
    ]


def attach_options(limit: int) -> list[tuple[str, int]]:
    """gRPC options of the line to the controller, which may vanish without a word."""
    return [
        *message_options(limit),
        ("grpc.max_reconnect_backoff_ms", round(RECONNECT_SECONDS * 1e3)),
        ("grpc.keepalive_time_ms", 5000),
        ("grpc.keepalive_timeout_ms", 3000),
    ]


def _bind(server: grpc.aio.Server, listen: str) -> int:
    try:
        port: int = server.add_insecure_port(listen)
    except RuntimeError as error:
        raise ConfigError(f"cannot listen on {listen}; choose another --listen, or port 0 for a free one") from error
    if port == 0:
        raise ConfigError(f"cannot listen on {listen}; choose another --listen, or port 0 for a free one")
    return port


def _advertised(settings: WorkerSettings, port: int) -> str:
    """Where routers reach a process that listens on this port."""
    if settings.advertise is not None:
        return settings.advertise
    host = settings.listen.rpartition(":")[0]
    return f"{_own_address(settings.join) if host in ('', '0.0.0.0', '[::]') else host}:{port}"


def _own_address(join: str) -> str:
    """This machine's address as the controller's network sees it. Raises UnreachableError if there is no way there."""
    host, _, port = join.rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((host, int(port)))  # sends nothing
        except OSError as error:
            raise UnreachableError(f"there is no way to {join}: {error}") from error
        address: str = probe.getsockname()[0]
        return address
