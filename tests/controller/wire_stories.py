"""Scripted workers and routers that are real clients of a real controller, and the folders it is started on."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import grpc
from controller_stories import LADDER, cluster_of, profile_of, source_of

from tidewise.controller.server import serve
from tidewise.controller.shell import Settings
from tidewise.controller.solving import SolverProcess
from tidewise.core.plan import Assignment
from tidewise.core.profile import Profile
from tidewise.core.report import DeviceReport, Holding, RouterReport, WorkerOrder, WorkerReport
from tidewise.core.repository import MeasuredAccuracy, format_accuracy
from tidewise.core.routes import RoutingSnapshot, Tally
from tidewise.proto import control_pb2 as pb
from tidewise.proto.control_pb2_grpc import ControllerStub
from tidewise.proto.convert import snapshot_noun
from tidewise.proto.convert_reports import order_noun, router_report_message, worker_report_message

PATIENCE = 60.0  # seconds; this machine may be busy


def write_application(folder: Path, name: str, stamp: str = "1") -> Path:
    """An application's folder; its model files are not models, which the controller never looks into."""
    here = folder / name
    digests = {}
    for variant in LADDER:
        model = here / variant / "model.onnx"
        model.parent.mkdir(parents=True, exist_ok=True)
        model.write_bytes(f"{name}-{variant}-{stamp}".encode() * 1000)
        digests[variant] = hashlib.sha256(model.read_bytes()).hexdigest()
    (here / "application.toml").write_text(source_of(name).toml)
    measured = {
        v: MeasuredAccuracy(round(10_000 * accuracy), 10_000, digests[v]) for v, (accuracy, _) in LADDER.items()
    }
    (here / "accuracy.json").write_text(format_accuracy(measured))
    return here


def real_profile(*names: str) -> Profile:
    """The ladder's profile, of whatever file."""
    entries = [replace(one, digest="") for one in profile_of(*names).entries.values()]
    return Profile().with_entries(entries)


def settings_of(state: Path, repository: Path | None = None, port: int = 0, **planner: float) -> Settings:
    return Settings(port=port, cluster=cluster_of(**planner), repository=repository, state=state)  # type: ignore[arg-type]


@contextlib.asynccontextmanager
async def controller(settings: Settings, solver: SolverProcess | None = None) -> AsyncIterator[int]:
    """A controller in this process; gives its port."""
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.ensure_future(serve(settings, ready.set_result, solver))
    await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    try:
        yield ready.result()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def calling(port: int) -> grpc.aio.Channel:
    """A channel to the controller."""
    return grpc.aio.insecure_channel(f"127.0.0.1:{port}")


def tell(story: Callable[[], Awaitable[None]]) -> None:
    """Play a story to its end, within a limit."""
    asyncio.run(asyncio.wait_for(story(), 110))


async def until(condition: Callable[[], object], what: str = "") -> None:
    """Wait until the condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)


class FakeWorker:
    """One worker process: reports, obeys after ``loading`` seconds, calls again when the line breaks."""

    def __init__(self, port: int, *devices: str, profile: Profile | None = None, loading: float = 0.05) -> None:
        self.port, self.profile, self.loading = port, profile, loading
        self.devices = {name: DeviceReport(name, name.partition("-")[0]) for name in devices}
        self.orders: list[WorkerOrder] = []
        self.assigned: dict[str, Assignment] = {}
        self.cannot: set[str] = set()
        self.process = f"process-{id(self)}"
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> FakeWorker:
        self._task = asyncio.ensure_future(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def hosted(self) -> dict[str, str]:
        return {name: f"{one.application}/{one.ceiling}" for name, one in self.assigned.items()}

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(grpc.aio.AioRpcError):
                async with grpc.aio.insecure_channel(f"127.0.0.1:{self.port}") as channel:
                    async for message in ControllerStub(channel).AttachWorkers(self._reports()):
                        order = order_noun(message)
                        self.orders.append(order)
                        asyncio.get_running_loop().call_later(self.loading, self._follow, order)
            await asyncio.sleep(0.1)

    async def _reports(self) -> AsyncIterator[pb.WorkerReport]:
        profiles = (self.profile,) if self.profile is not None else ()
        while True:
            report = WorkerReport(self.process, "127.0.0.1:9", tuple(self.devices.values()), profiles)
            yield worker_report_message(report)
            profiles = ()
            await asyncio.sleep(0.1)

    def _follow(self, order: WorkerOrder) -> None:
        families = {one.name: one for one in (source.parse() for source in order.applications)}
        assigned = {one.worker: one for one in order.assignments}
        for name, device in self.devices.items():
            one = assigned.get(name)
            warm = [
                Holding(one.application, variant, found.digest)
                for variant in (one.warm if one else ())
                if one and (found := families[one.application].variant(variant)) is not None
            ]
            if any(holding.digest in self.cannot for holding in warm):
                refused = replace(device, refused_version=order.plan_version, refused_reason="corrupt model file")
                self.devices[name] = refused
                continue
            self.devices[name] = replace(device, warm=tuple(warm), applied_version=order.plan_version)
            if one is not None:
                self.assigned[name] = one


class FakeRouter:
    """Reports tallies at the rates it is given, keeps the snapshots it is sent."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.snapshots: list[RoutingSnapshot] = []
        self.rates: dict[str, float] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def routes(self) -> dict[str, str]:
        """Worker: application, by the newest snapshot."""
        return {one.worker: one.application for one in self.snapshots[-1].routes} if self.snapshots else {}

    async def __aenter__(self) -> FakeRouter:
        self._task = asyncio.ensure_future(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._task is not None
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(grpc.aio.AioRpcError):
                async with grpc.aio.insecure_channel(f"127.0.0.1:{self.port}") as channel:
                    async for message in ControllerStub(channel).AttachRouter(self._reports()):
                        self.snapshots.append(snapshot_noun(message))
            await asyncio.sleep(0.1)

    async def _reports(self) -> AsyncIterator[pb.RouterReport]:
        last = asyncio.get_running_loop().time()
        while True:
            now = asyncio.get_running_loop().time()
            tallies = tuple(Tally(n, now - last, round(rate * (now - last))) for n, rate in self.rates.items())
            applied = self.snapshots[-1].revision if self.snapshots else 0
            yield router_report_message(RouterReport("router", "127.0.0.1:8", applied, tallies if now > last else ()))
            last = now
            await asyncio.sleep(0.25)
