"""The Controller service over gRPC: calls become events, decisions become answers; nothing is decided here."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from tidewise.controller.attach import attach_router, attach_worker
from tidewise.controller.events import ApplicationApplied
from tidewise.controller.shell import Settings, Shell
from tidewise.controller.solving import SolverProcess
from tidewise.controller.upload import Upload
from tidewise.core.application import Application
from tidewise.core.errors import ConfigError, RepositoryError
from tidewise.proto import control_pb2 as pb
from tidewise.proto import control_pb2_grpc as rpc

MIB = 1024 * 1024
FAREWELL = 0.2  # seconds streams get to end by themselves
LEAST_INTERVAL = 0.1  # seconds between two statuses of a watch
OPTIONS = (
    ("grpc.so_reuseport", 0),  # a second controller on the port must fail, not share it
    ("grpc.max_receive_message_length", 64 * MIB),
    ("grpc.max_send_message_length", 64 * MIB),
    ("grpc.keepalive_time_ms", 5000),  # finds peers that vanished without a word
    ("grpc.keepalive_timeout_ms", 3000),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 1000),
)
Context = grpc.aio.ServicerContext[Any, Any]
Code = grpc.StatusCode
Stored = TypeVar("Stored")


class ControllerService(rpc.ControllerServicer):
    """The service of control.proto."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def AttachWorkers(
        self, requests: AsyncIterator[pb.WorkerReport], context: Context
    ) -> AsyncIterator[pb.WorkerOrder]:
        """Orders for one worker process, as long as it is attached."""
        async for order in attach_worker(self._shell, requests):
            yield order

    async def AttachRouter(
        self, requests: AsyncIterator[pb.RouterReport], context: Context
    ) -> AsyncIterator[pb.RoutingSnapshot]:
        """Routing snapshots for one router, as long as it is attached."""
        async for snapshot in attach_router(self._shell, requests):
            yield snapshot

    async def Apply(self, requests: AsyncIterator[pb.ApplyChunk], context: Context) -> pb.ApplyReply:
        """Take an application in, if all of it is right; nothing changes otherwise."""
        folder = await self._stored(self._shell.store.incoming, context)
        upload = Upload(folder)
        try:
            async for one in requests:
                upload.take(one.application, one.path, one.data)
            source, application = await asyncio.to_thread(upload.checked)
            replaced = self._shell.apply(ApplicationApplied(source, application), folder)
        except RepositoryError as error:
            await context.abort(Code.INVALID_ARGUMENT, str(error))
        except OSError as error:
            await context.abort(Code.INTERNAL, f"the upload could not be stored: {error}")
        finally:
            upload.close()
            shutil.rmtree(folder, ignore_errors=True)
        return pb.ApplyReply(replaced=replaced, variants=[one.name for one in application.variants])

    async def Remove(self, request: pb.RemoveRequest, context: Context) -> pb.RemoveReply:
        """Forget an application."""
        await self._known(request.application, context)
        await self._stored(lambda: self._shell.remove(request.application), context)
        return pb.RemoveReply()

    async def Fetch(self, request: pb.FetchRequest, context: Context) -> AsyncIterator[pb.FileChunk]:
        """A file in pieces of one MiB."""
        application = await self._known(request.application, context)
        try:
            path = self._shell.catalogue.file(application, request.path, request.digest)
            with path.open("rb") as file:
                while data := await asyncio.to_thread(file.read, MIB):
                    yield pb.FileChunk(data=data)
        except RepositoryError as error:
            await context.abort(Code.NOT_FOUND, str(error))
        except OSError as error:
            await context.abort(Code.UNAVAILABLE, f"the file cannot be read: {error}")

    async def Status(self, request: pb.StatusRequest, context: Context) -> pb.StatusReply:
        """The status now."""
        return self._shell.status()

    async def Watch(self, request: pb.WatchRequest, context: Context) -> AsyncIterator[pb.StatusReply]:
        """The status now, after every change, and at least every interval (1 s if none is given)."""
        interval = max(request.interval_s or 1.0, LEAST_INTERVAL)
        while True:
            changed = self._shell.changed
            yield self._shell.status()
            await asyncio.sleep(LEAST_INTERVAL)
            await _wait(changed, interval - LEAST_INTERVAL)

    async def _stored(self, write: Callable[[], Stored], context: Context) -> Stored:
        """What ``write`` returns; the call ends with a sentence if the state folder cannot be written."""
        try:
            return write()
        except OSError as error:
            await context.abort(Code.INTERNAL, f"the state folder cannot be written, so nothing is changed: {error}")
            raise AssertionError("abort raises") from error

    async def _known(self, name: str, context: Context) -> Application:
        application = self._shell.conductor.registry.applications.get(name)
        if application is None:
            listed = ", ".join(sorted(self._shell.conductor.registry.applications)) or "none"
            await context.abort(Code.NOT_FOUND, f"application {name!r} is unknown; there are: {listed}")
            raise AssertionError("abort raises")
        return application


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(max(seconds, 0.0)):
            await event.wait()
    except TimeoutError:
        return


async def serve(
    settings: Settings, ready: Callable[[int], None] | None = None, solver: SolverProcess | None = None
) -> None:
    """Run a controller until cancelled; ``ready`` is called with the port once calls are answered.

    Raises ConfigError if the port or the state folder cannot be used, RepositoryError if the repository is wrong.
    """
    shell = Shell(settings, solver)
    shell.load()
    server = grpc.aio.server(options=OPTIONS)
    rpc.add_ControllerServicer_to_server(ControllerService(shell), server)
    healthy = health.aio.HealthServicer()  # type: ignore[attr-defined]
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    try:
        port = server.add_insecure_port(f"{settings.host}:{settings.port}")
    except RuntimeError as error:
        raise ConfigError(f"cannot listen on {settings.host}:{settings.port}: is another controller there?") from error
    await server.start()
    for name in ("", "tidewise.control.v1.Controller"):
        await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
    if ready is not None:
        ready(port)
    try:
        await shell.run()
    finally:
        await healthy.enter_graceful_shutdown()
        await server.stop(FAREWELL)
