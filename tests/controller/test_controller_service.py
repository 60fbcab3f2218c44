"""The controller over the wire: real streams, scripted workers and routers, a real solver process."""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from wire_stories import (
    FakeRouter,
    FakeWorker,
    calling,
    controller,
    real_profile,
    settings_of,
    until,
    write_application,
)

from tidewise.controller.solving import SolverProcess
from tidewise.core.errors import ConfigError
from tidewise.proto import control_pb2 as pb
from tidewise.proto.control_pb2_grpc import ControllerStub

Story = Callable[[], Awaitable[None]]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    write_application(tmp_path / "models", "pets")
    return tmp_path / "models"


def tell(story: Story) -> None:
    asyncio.run(asyncio.wait_for(story(), 100))


def chunks_of(folder: Path, *, name: str = "", paths: dict[str, str] | None = None) -> Iterator[pb.ApplyChunk]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            sent = (paths or {}).get(path.name, str(path.relative_to(folder)))
            yield pb.ApplyChunk(application=name or folder.name, path=sent, data=path.read_bytes())


def test_workers_are_planned_and_routers_told_who_is_ready(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port:
            router = FakeRouter(port)
            worker = FakeWorker(port, "big-0", "little-0", profile=real_profile("pets"))
            async with worker, router:
                await until(lambda: router.routes == {"big-0": "pets", "little-0": "pets"})
                last = router.snapshots[-1]
                assert last.plan_version == worker.orders[-1].plan_version
                assert sum(one.share for one in last.routes) == pytest.approx(1)
                assert all(one.fastest > 0 and one.capacity > 0 for one in last.routes)
                assert [one.revision for one in router.snapshots] == sorted({one.revision for one in router.snapshots})

    tell(story)


def test_a_worker_that_dies_is_out_of_the_routes_and_back_when_it_returns(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with (
            controller(settings_of(tmp_path / "state", repository)) as port,
            FakeRouter(port) as router,
            FakeWorker(port, "big-0", profile=real_profile("pets")),
        ):
            async with FakeWorker(port, "big-1"):
                await until(lambda: set(router.routes) == {"big-0", "big-1"})
            await until(lambda: set(router.routes) == {"big-0"})
            async with FakeWorker(port, "big-1"):
                await until(lambda: set(router.routes) == {"big-0", "big-1"})

    tell(story)


def test_demand_moves_the_plan_through_the_whole_chain(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository, period=3.0)) as port:
            worker = FakeWorker(port, "big-0", "big-1", profile=real_profile("pets"))
            async with worker, FakeRouter(port) as router:
                await until(lambda: set(worker.hosted().values()) == {"pets/large"})
                router.rates = {"pets": 250.0}
                await until(lambda: "pets/small" in worker.hosted().values())
                await until(lambda: any("small" in one.variants for one in router.snapshots[-1].routes))
                router.rates = {"pets": 10.0}
                await until(lambda: set(worker.hosted().values()) == {"pets/large"})

    tell(story)


def test_a_restarted_controller_goes_on_from_the_workers_and_never_back(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port:
            router = FakeRouter(port)
            worker = FakeWorker(port, "big-0", "big-1", profile=real_profile("pets"))
            await worker.__aenter__()
            await router.__aenter__()
            await until(lambda: len(router.routes) == 2)
        version, revision, seen = worker.orders[-1].plan_version, router.snapshots[-1].revision, len(router.snapshots)
        async with controller(settings_of(tmp_path / "state", repository, port=port)):
            await until(lambda: len(router.snapshots) > seen)
            assert all(len(one.routes) == 2 for one in router.snapshots[seen:])  # nobody was taken out on the way
            assert router.snapshots[seen].revision > revision
            assert [one.plan_version for one in worker.orders] == sorted(one.plan_version for one in worker.orders)
            async with FakeWorker(port, "big-2"):
                await until(lambda: len(router.routes) == 3)
            assert worker.orders[-1].plan_version > version
        await worker.__aexit__()
        await router.__aexit__()

    tell(story)


def test_a_controller_that_lost_its_state_folder_starts_above_what_workers_know(
    tmp_path: Path, repository: Path
) -> None:
    async def story() -> None:
        worker = FakeWorker(0, "big-0", profile=real_profile("pets"))
        worker.devices = {name: replace(one, applied_version=41) for name, one in worker.devices.items()}
        async with controller(settings_of(tmp_path / "state", repository)) as port:
            worker.port = port
            async with worker:
                await until(lambda: worker.orders)
                assert worker.orders[0].plan_version == 42

    tell(story)


def test_a_solver_that_hangs_crashes_or_lies_cannot_stop_service(tmp_path: Path, repository: Path) -> None:
    hang = [sys.executable, "-c", _CHILD + "time.sleep(99)"]
    crash = [sys.executable, "-c", _CHILD + "sys.stdin.buffer.read(8); os.abort()"]
    lie = [sys.executable, "-c", _CHILD + "\nwhile sys.stdin.buffer.read(8): say('solved it')\n"]

    async def story() -> None:
        for number, command in enumerate((hang, crash, lie)):
            settings = settings_of(tmp_path / f"state{number}", repository, solve_limit=0.5)
            async with (
                controller(settings, SolverProcess(command)) as port,
                FakeRouter(port) as router,
                FakeWorker(port, "big-0", profile=real_profile("pets")),
                calling(port) as channel,
            ):
                await until(lambda router=router: router.routes == {"big-0": "pets"})  # type: ignore[misc]
                status = await ControllerStub(channel).Status(pb.StatusRequest())
                assert status.plan.status == "fallback"

    tell(story)


def test_a_file_a_worker_refuses_is_reported_and_planned_around(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, FakeRouter(port) as router:
            worker = FakeWorker(port, "big-0", profile=real_profile("pets"))
            worker.cannot = {hashlib.sha256((repository / "pets/large/model.onnx").read_bytes()).hexdigest()}
            async with worker, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                await until(lambda: router.routes == {"big-0": "pets"})
                assert worker.hosted() == {"big-0": "pets/medium"}
                status = await ControllerStub(channel).Status(pb.StatusRequest())
                assert status.workers[0].device.refused_reason == "corrupt model file"
                assert "pets/large is not planned on big-0: corrupt model file" in status.last_failure

    tell(story)


def test_an_applied_application_is_served_fetched_and_there_after_a_restart(tmp_path: Path, repository: Path) -> None:
    cars = write_application(tmp_path / "elsewhere", "cars")
    model = (cars / "small" / "model.onnx").read_bytes()

    async def story() -> None:
        profile = real_profile("pets", "cars")
        async with (
            controller(settings_of(tmp_path / "state", repository)) as port,
            FakeRouter(port) as router,
            FakeWorker(port, "big-0", "big-1", profile=profile),
            calling(port) as channel,
        ):
            stub = ControllerStub(channel)
            reply = await stub.Apply(iter(chunks_of(cars)))
            assert not reply.replaced and list(reply.variants) == ["large", "medium", "small"]
            await until(lambda: set(router.routes.values()) == {"pets", "cars"})
            digest = hashlib.sha256(model).hexdigest()
            assert await _fetched(stub, application="cars", digest=digest) == model
            assert await _fetched(stub, application="cars", path="application.toml")
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            stub = ControllerStub(channel)
            assert len((await stub.Status(pb.StatusRequest())).applications) == 2
            await stub.Remove(pb.RemoveRequest(application="pets"))
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            status = await ControllerStub(channel).Status(pb.StatusRequest())
            assert ['name = "cars"' in one.spec.toml for one in status.applications] == [True]

    tell(story)


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ({"application.toml": "../application.toml"}, "refused"),
        ({"application.toml": "/etc/application.toml"}, "refused"),
        ({"application.toml": "a/../../application.toml"}, "refused"),
        ({"application.toml": ".hidden"}, "refused"),
        ({"application.toml": "other.toml"}, "holds no application.toml"),
        ({"model.onnx": "large/model.onnx"}, "sent twice"),
    ],
)
def test_a_wrong_upload_changes_nothing(tmp_path: Path, repository: Path, paths: dict[str, str], said: str) -> None:
    cars = write_application(tmp_path / "elsewhere", "cars")

    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            stub = ControllerStub(channel)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.Apply(iter(chunks_of(cars, paths=paths)))
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert said in str(caught.value.details())
            assert len((await stub.Status(pb.StatusRequest())).applications) == 1
        assert not list((tmp_path / "state" / "repository").iterdir())
        assert not list((tmp_path / "state" / "incoming").iterdir())

    tell(story)


def test_an_upload_without_a_model_or_without_measured_accuracy_is_refused(tmp_path: Path, repository: Path) -> None:
    cars = write_application(tmp_path / "elsewhere", "cars")
    bare = write_application(tmp_path / "bare", "bare")
    (cars / "small" / "model.onnx").unlink()
    (bare / "accuracy.json").unlink()

    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            for folder, said in ((cars, "small/model.onnx is missing"), (bare, "no measured accuracy")):
                with pytest.raises(grpc.aio.AioRpcError, match=said):
                    await ControllerStub(channel).Apply(iter(chunks_of(folder)))

    tell(story)


def test_unknown_names_are_told_what_there_is(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            stub = ControllerStub(channel)
            with pytest.raises(grpc.aio.AioRpcError, match="there are: pets"):
                await stub.Remove(pb.RemoveRequest(application="dogs"))
            with pytest.raises(grpc.aio.AioRpcError, match="no model file with digest"):
                await _fetched(stub, application="pets", digest="0" * 64)
            with pytest.raises(grpc.aio.AioRpcError, match="refused"):
                await _fetched(stub, application="pets", path="../../../etc/passwd")

    tell(story)


def test_health_is_served_and_a_watch_sees_changes(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            health = health_pb2_grpc.HealthStub(channel)  # type: ignore[no-untyped-call]
            assert (await health.Check(health_pb2.HealthCheckRequest())).status == 1
            watch = ControllerStub(channel).Watch(pb.WatchRequest(interval_s=60.0))
            assert (await watch.read()).plan.version == 0
            async with FakeWorker(port, "big-0", profile=real_profile("pets")):
                assert (await watch.read()).workers[0].connected
            watch.cancel()

    tell(story)


def test_profiles_that_cannot_be_read_do_not_cost_the_worker(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "state", repository)) as port, calling(port) as channel:
            stub = ControllerStub(channel)
            stream = stub.AttachWorkers()
            device = pb.DeviceReport(name="big-0", device_type="big")
            await stream.write(pb.WorkerReport(process="p", address="h:1", devices=[device], profiles=["{"]))
            order = await stream.read()
            assert order.measures[0].device == "big-0"
            assert (await stub.Status(pb.StatusRequest())).workers[0].connected
            stream.cancel()

    tell(story)


def test_a_port_that_is_taken_is_one_clear_sentence(tmp_path: Path, repository: Path) -> None:
    async def story() -> None:
        async with controller(settings_of(tmp_path / "a", repository)) as port:
            with pytest.raises(ConfigError, match=f"127.0.0.1:{port}"):
                async with controller(settings_of(tmp_path / "b", repository, port=port)):
                    pass

    tell(story)


_CHILD = """
import os, pickle, struct, sys, time
def say(value):
    body = pickle.dumps(value)
    sys.stdout.buffer.write(struct.pack("<Q", len(body)) + body)
    sys.stdout.buffer.flush()
say("ready")
"""


async def _fetched(stub: ControllerStub, **request: str) -> bytes:
    return b"".join([chunk.data async for chunk in stub.Fetch(pb.FetchRequest(**request))])
