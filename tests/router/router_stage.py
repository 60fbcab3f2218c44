"""A stage for router tests: a controller stand-in, echo workers, and a router, all real servers in one event loop.

The stories told on it know a router by its addresses only: ``stage`` is the one place that starts one, so that any
other data plane can be put to the same stories.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
from grpc_health.v1 import health_pb2

from tidewise.core.cluster import Limits
from tidewise.core.outcome import REASON_KEY
from tidewise.core.repository import ApplicationSource
from tidewise.core.routes import Route, RoutingSnapshot
from tidewise.proto import control_pb2 as control
from tidewise.proto import inference_pb2 as pb
from tidewise.proto.convert import snapshot_message
from tidewise.router.server import Router, Settings

T = TypeVar("T")
PLANE = contextvars.ContextVar("data plane", default="python")  # of the routers that are started
VERSIONS = {"fine": "2", "fast": "1"}
PATIENCE = 60.0  # seconds; the machine may be busy


def source(name: str, slo_ms: float = 1000.0) -> ApplicationSource:
    """An application with two variants: fast (1) and fine (2)."""
    toml = f"""
name = "{name}"
slo_ms = {slo_ms}
inputs = [{{name = "x", datatype = "FP32", shape = [4]}}]
outputs = [{{name = "y", datatype = "FP32", shape = [-1]}}]
variants = [{{name = "fast", version = 1}}, {{name = "fine", version = 2}}]
"""
    return ApplicationSource(toml, "", {"fast": "f1", "fine": "f2"})


def route(
    worker: str,
    address: str,
    application: str = "garments",
    variants: tuple[str, ...] = ("fine",),
    share: float = 1.0,
    capacity: float = 1000.0,
    fastest: float = 0.001,
) -> Route:
    return Route(worker, address, application, variants, share, capacity, fastest)


def snapshot(
    routes: list[Route],
    applications: tuple[str, ...] = ("garments",),
    revision: int = 1,
    slo_ms: float = 20_000.0,
    max_message: int = Limits().max_message,  # another one would have the router change servers
    routing: str = "least-backlog",
) -> control.RoutingSnapshot:
    sources = {name: source(name, slo_ms) for name in applications}
    parsed = {name: one.parse() for name, one in sources.items()}
    return snapshot_message(RoutingSnapshot(revision, 1, parsed, tuple(routes), max_message, routing), sources)


def request(application: str = "garments", version: str = "", id: str = "", **parameters: float) -> bytes:
    message = pb.ModelInferRequest(model_name=application, model_version=version, id=id)
    for key, value in parameters.items():
        if isinstance(value, int):
            message.parameters[key].int64_param = value
        else:
            message.parameters[key].double_param = value
    message.inputs.add(name="x", datatype="FP32", shape=[1, 4])
    message.raw_input_contents.append(b"\0" * 16)
    return message.SerializeToString()


@dataclass
class Seen:
    """One query as a worker saw it."""

    body: bytes
    metadata: dict[str, str | bytes]
    remaining: float | None
    cancelled: bool = False


@dataclass
class EchoWorker:
    """A worker process that answers ModelInfer as ``act`` says; several devices may share it."""

    act: Callable[[Seen, Any], Awaitable[bytes | None]] | None = None
    health: bool = True
    max_send: int = -1
    seen: list[Seen] = field(default_factory=list)
    address: str = ""
    server: Any = None

    async def start(self, port: int = 0, listen: str = "") -> EchoWorker:
        self.server = grpc.aio.server(options=[("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", -1)])
        infer = {"ModelInfer": grpc.unary_unary_rpc_method_handler(self._infer)}
        check = {
            "Check": grpc.unary_unary_rpc_method_handler(
                self._check,
                request_deserializer=health_pb2.HealthCheckRequest.FromString,
                response_serializer=health_pb2.HealthCheckResponse.SerializeToString,
            )
        }
        self.server.add_generic_rpc_handlers(
            [
                grpc.method_handlers_generic_handler("inference.GRPCInferenceService", infer),
                grpc.method_handlers_generic_handler("grpc.health.v1.Health", check),
            ]
        )
        bound = self.server.add_insecure_port(listen or f"127.0.0.1:{port}")
        self.address = listen or f"127.0.0.1:{bound}"
        await self.server.start()
        return self

    async def kill(self) -> None:
        await self.server.stop(None)

    async def _check(self, message: Any, context: Any) -> Any:
        serving = health_pb2.HealthCheckResponse.SERVING
        return health_pb2.HealthCheckResponse(
            status=serving if self.health else health_pb2.HealthCheckResponse.NOT_SERVING
        )

    async def _infer(self, body: bytes, context: Any) -> bytes:
        seen = Seen(body, dict(context.invocation_metadata()), context.time_remaining())
        self.seen.append(seen)
        try:
            answer = await self.act(seen, context) if self.act else None
        except asyncio.CancelledError:
            seen.cancelled = True
            raise
        return answer if answer is not None else echo(body, str(seen.metadata.get("tidewise-worker", "")))


def echo(body: bytes, worker: str, variant: str = "fine") -> bytes:
    asked = pb.ModelInferRequest.FromString(body)
    answer = pb.ModelInferResponse(model_name=asked.model_name, model_version=VERSIONS[variant], id=asked.id)
    answer.parameters["variant"].string_param = variant
    answer.parameters["worker"].string_param = worker
    answer.parameters["plan_version"].int64_param = 1
    answer.parameters["queue_us"].int64_param = 1500
    answer.parameters["compute_us"].int64_param = 2500
    answer.parameters["batch_size"].int64_param = 2
    answer.raw_output_contents.extend(asked.raw_input_contents)
    return answer.SerializeToString()


def sleeping(seconds: float) -> Callable[[Seen, Any], Awaitable[None]]:
    async def act(seen: Seen, context: Any) -> None:
        await asyncio.sleep(seconds)

    return act


def failing(code: grpc.StatusCode, message: str, reason: str = "") -> Callable[[Seen, Any], Awaitable[None]]:
    async def act(seen: Seen, context: Any) -> None:
        await context.abort(code, message, ((REASON_KEY, reason), ("extra", "kept")) if reason else ())

    return act


class ControllerStandIn:
    """Sends every attached router what it is told to, and keeps the reports."""

    def __init__(self) -> None:
        self.reports: list[control.RouterReport] = []
        self._last: bytes | None = None
        self._queues: list[asyncio.Queue[bytes]] = []
        self.server: Any = None
        self.address = ""

    async def start(self, port: int = 0) -> ControllerStandIn:
        self.server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        attach = grpc.stream_stream_rpc_method_handler(
            self._attach, request_deserializer=control.RouterReport.FromString
        )
        self.server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler("tidewise.control.v1.Controller", {"AttachRouter": attach})]
        )
        self.address = f"127.0.0.1:{self.server.add_insecure_port(f'127.0.0.1:{port}')}"
        await self.server.start()
        return self

    async def stop(self) -> None:
        await self.server.stop(None)

    def send(self, message: control.RoutingSnapshot | bytes) -> None:
        self._last = message if isinstance(message, bytes) else message.SerializeToString()
        for queue in self._queues:
            queue.put_nowait(self._last)

    def applied(self) -> int:
        """The revision the router last acknowledged."""
        return self.reports[-1].applied_revision if self.reports else 0

    def counted(self, application: str) -> tuple[int, dict[str, int]]:
        """Arrivals and outcomes of an application over all reports."""
        arrivals, outcomes = 0, {}
        for report in self.reports:
            for tally in report.tallies:
                if tally.application == application:
                    arrivals += tally.arrivals
                    for name, count in tally.outcomes.items():
                        outcomes[name] = outcomes.get(name, 0) + count
        return arrivals, outcomes

    async def _attach(self, reports: Any, context: Any) -> None:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._queues.append(queue)
        if self._last is not None:
            queue.put_nowait(self._last)
        reading = asyncio.create_task(self._read(reports))
        try:
            while True:
                await context.write(await queue.get())
        finally:
            self._queues.remove(queue)
            reading.cancel()

    async def _read(self, reports: Any) -> None:
        async for report in reports:
            self.reports.append(report)


class Client:
    """What a caller sees."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.aio.insecure_channel(
            address,
            options=[("grpc.max_receive_message_length", -1), ("grpc.use_local_subchannel_pool", 1)],
        )
        service = "/inference.GRPCInferenceService"
        self.infer = self.channel.unary_unary(f"{service}/ModelInfer")
        self.stream = self.channel.stream_stream(f"{service}/ModelStreamInfer")

    def call(self, method: str, message: Any, reply: Any) -> Awaitable[Any]:
        path = method if method.startswith("/") else f"/inference.GRPCInferenceService/{method}"
        kind = type(message)
        made = self.channel.unary_unary(
            path, request_serializer=kind.SerializeToString, response_deserializer=reply.FromString
        )
        return made(message, timeout=PATIENCE)

    async def ask(self, body: bytes, timeout: float | None = PATIENCE, **metadata: str) -> pb.ModelInferResponse:
        pairs = tuple((key.replace("_", "-"), value) for key, value in metadata.items())
        return pb.ModelInferResponse.FromString(await self.infer(body, timeout=timeout, metadata=pairs))

    async def refused(self, body: bytes, timeout: float | None = PATIENCE) -> Refused:
        try:
            await self.infer(body, timeout=timeout)
        except grpc.aio.AioRpcError as error:
            trailing = dict(error.trailing_metadata())
            return Refused(error.code(), error.details(), str(trailing.get(REASON_KEY, "")), trailing)
        raise AssertionError("the query was answered")


async def get(port: int, path: str, method: str = "GET") -> tuple[int, dict[str, Any]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), json.loads(body) if body else {}


@dataclass
class Refused:
    code: grpc.StatusCode
    message: str
    reason: str
    trailing: dict[str, Any]


@dataclass
class Stage:
    """All that a test of a router's behaviour may touch, so that another data plane can be put in its place."""

    controller: ControllerStandIn
    client: Client
    address: str
    http_port: int
    router: Router | None  # for stories of one data plane only

    async def tell(self, message: control.RoutingSnapshot) -> None:
        """Send a snapshot and wait until the router has it in force."""
        self.controller.send(message)
        await until(lambda: self.controller.applied() == message.revision)


async def until(condition: Callable[[], object]) -> None:
    """Wait until the condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def stage(workers: int = 0, **settings: Any) -> AsyncIterator[tuple[Stage, list[EchoWorker]]]:
    """A router attached to a controller stand-in, and this many echo workers it does not know of yet."""
    controller = await ControllerStandIn().start()
    settings.setdefault("data_plane", PLANE.get())
    router = Router(Settings(controller.address, "127.0.0.1:0", "127.0.0.1:0", **settings))
    await router.start()
    client = Client(router.address)
    echoes = [await EchoWorker().start() for _ in range(workers)]
    try:
        yield Stage(controller, client, router.address, router.http_port or 0, router), echoes
    finally:
        await client.channel.close()
        await router.stop()
        await controller.stop()
        for one in echoes:
            await one.kill()


def story(test: Callable[[], Coroutine[Any, Any, T]]) -> Callable[[], T]:
    """A test written as a coroutine."""

    def run() -> T:
        return asyncio.run(asyncio.wait_for(test(), 110))

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run
